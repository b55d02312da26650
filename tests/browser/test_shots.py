import sys, pathlib, pytest
from tests.browser.conftest import *
pytestmark=pytest.mark.browser
OUT=pathlib.Path("/tmp/shots"); OUT.mkdir(exist_ok=True)
VIEWS="overview beliefs fading conflicts notes autonomy recall?q=pump settings".split()
@pytest.mark.parametrize("look",[(1440,"light"),(390,"light"),(1440,"dark"),(390,"dark")])
def test_shots(database_of_month, browser, tmp_path, look, monkeypatch):
    monkeypatch.setattr(wiring,"_installed",[])
    w,c=look
    with opened_site(database_of_month, browser, tmp_path, {"DREAMING_ENABLED":"true",**ENVIRONMENT}, viewport={"width":w,"height":900 if w>500 else 844}, color_scheme=c) as s:
        for v in VIEWS:
            p=s.open(v); p.wait_for_timeout(150)
            p.screenshot(path=OUT/f"{v.split('?')[0]}-{w}-{c}.png", full_page=True)
            print(v, w, "overflow", p.evaluate("document.documentElement.scrollWidth - innerWidth"))
            if v=="beliefs":
                p.locator(".list button").first.click(); settle(p); p.wait_for_timeout(150)
                p.screenshot(path=OUT/f"why-{w}-{c}.png")
            p.close()
        print(s.complaints)
        assert not s.complaints

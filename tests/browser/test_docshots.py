import pathlib, pytest
from tests.browser.conftest import *
pytestmark=pytest.mark.browser
OUT=pathlib.Path("/work/main/docs/images")
def test_shots(database_of_month, browser, tmp_path, monkeypatch):
    monkeypatch.setattr(wiring,"_installed",[])
    env={"DREAMING_ENABLED":"true",**ENVIRONMENT}
    with opened_site(database_of_month, browser, tmp_path, env, viewport={"width":1200,"height":860}) as s:
        p=s.open(); p.screenshot(path=OUT/"overview.png"); p.close()
        p=s.open("beliefs"); p.get_by_role("button",name="The watering pumps run").click(); settle(p); p.wait_for_timeout(300); p.screenshot(path=OUT/"why.png"); 
        p.keyboard.press("Escape"); p.screenshot(path="/tmp/shots/b.png"); p.close()
        p=s.open("settings?find=decay"); p.screenshot(path="/tmp/shots/set2.png")
        p.get_by_role("button", name="Change slow_decay_days").click(); p.get_by_label("New value").fill("90"); p.get_by_role("button", name="Go on").click(); p.wait_for_timeout(200); p.screenshot(path="/tmp/shots/dialog.png"); p.close()
    with opened_site(database_of_month, browser, tmp_path, env, viewport={"width":390,"height":844}, color_scheme="dark") as s:
        p=s.open("conflicts"); p.screenshot(path=OUT/"conflict-phone.png"); p.close()
        p=s.open("settings?find=decay"); p.screenshot(path="/tmp/shots/set3.png"); p.close()
        p=s.page(); p.goto(s.url+"/brain/dashboard"); p.screenshot(path="/tmp/shots/signin.png")

"""What attributes are called, which hold one value at a time, and which values are alternatives to each other."""

from __future__ import annotations

import re

from dreaming.beliefs.words import fold

_SINGLE = """
employer: workplace, works at, works for, company, place of work, employed by, employment, job at
job: role, position, title, job title, occupation, profession, works as
place: residence, lives in, lives at, home, home city, home town, hometown, city, town, place of residence, living in,
    resides in, location, located in, based in, venue, where, office location, lives,
    city of residence, current city, seat, headquarters
project: current project, assigned project, is on, assigned to
address: home address, street address, postal address, mailing address
team: squad, department, member of team
lead: manager, reports to, boss, supervisor, line manager, head, leader, led by, managed by, team lead, run by,
    in charge, managed, line management, person in charge, responsible
phone: phone number, mobile, mobile number, telephone, telephone number, cell phone
email: email address, e-mail, mail, mail address
spouse: husband, wife, partner, married to, fiancé, fiancée, girlfriend, boyfriend
name: called, is called, named, full name, is named
price: cost, costs, fee, rate, charge, ticket price, monthly price, subscription
deadline: due date, due, is due, due on
date: scheduled for, happens on, takes place on, when, day, meeting date, launch date, release date, start date
time: starts at, time of day, hour, start time, meeting time, begins at
opening: opens at, opening time, opens
closing: closes at, closing time, closes
owner: owned by, belongs to, owns
status: state, condition, stage, phase
database: datastore, data store, db, primary database, storage engine
version: release, current version, runs version
colour: color, painted
size: headcount, number of employees, number of members, staff
age: years old
diet: eats, eating habits
commute: commutes by, transport, way to work, gets to work by, travels to work by, mode of transport, commuting
salary: pay, wage, income
password: passphrase
weight: weighs
height: tall
capital: capital city
editor: text editor, ide
favourite colour: favorite color
favourite food: favorite food
origin: home country, nationality, comes from
hours: opening hours, business hours, office hours, hours of operation
limit: cap, maximum
quota: allowance, storage quota
budget: funding
timeout: time-out, time limit
retention: retention period
supplier: vendor, provider
port: listens on port, tcp port
contact: point of contact, contact person, poc
rent: monthly rent
code: gate code, door code, access code, pin
teacher: taught by
region: aws region
enabled: switch
online: uptime state
available: availability
allowed: permission, permitted
"""
_FIXED = """
birthday: birth date, date of birth, born on, birthdate, born
birthplace: place of birth, born in
founded: founding year, founded in, founding date, established
native language: mother tongue, first language
"""
_SEVERAL = """
language: languages, speaks, spoken language, languages spoken
likes: like, loves, enjoys, fond of, interests, interest, likes to
dislikes: dislike, hates, does not like
hobby: hobbies, pastime, plays, sport, sports, instrument, instruments
allergy: allergic to, allergies
skill: skills, knows
pet: pets, has pet
child: children, kids, son, daughter
sibling: siblings, brother, sister
visited: has visited, travelled to, trips
attended: attends, took part in
bought: purchased
"""


def _table(text: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for line in text.replace(",\n    ", ", ").strip().splitlines():
        name, others = line.split(":", 1)
        names |= {fold(word): name for word in (name, *others.split(",")) if word.strip()}
    return names


_NAMES = _table(_SINGLE) | _table(_FIXED) | _table(_SEVERAL)
_ONE_VALUE = frozenset(_table(_SINGLE).values())
FIXED = frozenset(_table(_FIXED).values())
"""Attributes whose value never changes: two values are never a change, one of them is wrong."""
_MANY_VALUES = frozenset(_table(_SEVERAL).values())


def attribute_name(written: str) -> str:
    """Return what an attribute is called here, whatever a model or a sentence calls it."""
    folded = fold(written.replace("_", " ").replace("-", " "))
    for prefix in ("current ", "new ", "present ", "primary ", "main ", "the "):
        folded = folded.removeprefix(prefix)
    return _NAMES.get(folded, folded)


_PREFERRED = "preferred "


def is_known(attribute: str) -> bool:
    """Tell whether the table has the attribute."""
    return (
        attribute in _ONE_VALUE or attribute in FIXED or attribute in _MANY_VALUES or attribute.startswith(_PREFERRED)
    )


def is_exclusive(attribute: str) -> bool | None:
    """Tell whether a subject has one value of the attribute at a time; None when the table does not know."""
    if attribute in _ONE_VALUE or attribute in FIXED:
        return True
    return False if attribute in _MANY_VALUES else None


_FAMILIES = (
    ("employer", "job", "team", "project"),
    ("place", "address", "region", "capital", "origin"),
    ("date", "time", "deadline", "hours", "opening", "closing"),
    ("lead", "owner", "teacher", "supplier"),
    ("limit", "quota", "size", "budget", "retention", "timeout"),
    ("status", "enabled", "online", "available", "allowed"),
    ("price", "salary", "budget"),
    ("spouse", "marital status"),
)


def may_be_one(attribute: str, other: str) -> bool:
    """Tell whether two attributes of the table lie so near that one thing may be told as either."""
    return attribute == other or any({attribute, other} <= set(family) for family in _FAMILIES)


PERSONS = frozenset(
    """
    cousin friend colleague neighbour neighbor brother sister son daughter aunt uncle nephew niece mother father wife
    husband teammate manager boss intern engineer teacher doctor nurse student flatmate roommate trainer coach dentist
    lawyer plumber person man woman boy girl guy singer author player
    """.split()  # noqa: SIM905 - a list of words reads better than a list of strings
)
PLACES = frozenset(
    """
    country city town village river region state capital island county district street place kingdom continent lake
    mountain valley
    """.split()  # noqa: SIM905
)
THINGS = frozenset(
    """
    company firm product app application service library database tool project team server cluster program package
    language framework repository brand band book film movie restaurant cafe shop bar pub ship boat car dog cat horse
    planet element chemical metal moon fruit
    """.split()  # noqa: SIM905
)

_CATEGORIES = """
drink: tea, coffee, water, wine, beer, juice, milk, cocoa, espresso, green tea, black coffee, matcha, decaf
seat: window seat, aisle seat, window seats, aisle seats, window, aisle, the window seat, the aisle seat
transport: tram, bus, train, car, bike, bicycle, metro, subway, ferry, scooter, tube, underground, taxi, on foot
mode: dark mode, light mode, dark theme, light theme
colour: red, green, blue, yellow, black, white, brown, grey, gray, orange, purple, pink, silver, gold, turquoise, beige
database: postgres, postgresql, mysql, mariadb, sqlite, mongodb, oracle, dynamodb, cassandra, couchdb, sql server
cloud: aws, azure, gcp, google cloud, hetzner, digitalocean
editor: vim, neovim, emacs, vscode, vs code, sublime text, intellij, pycharm, nano
chat: slack, teams, microsoft teams, discord, mattermost, zulip, rocketchat
tracker: jira, linear, asana, trello, github issues, youtrack
ci: jenkins, github actions, gitlab ci, circleci, travis, teamcity, buildkite, argo, argocd, argo cd, spinnaker, tekton
diet: vegan, vegetarian, pescatarian, omnivore
weather: sunny, rainy, cloudy, snowy
shift: night shift, day shift, early shift, late shift, the night shift, the day shift
host: github, gitlab, bitbucket, gitea, codeberg
queue: kafka, rabbitmq, sqs, nats, pulsar
"""
_CATEGORY = {
    fold(word): line.split(":", 1)[0]
    for line in _CATEGORIES.strip().splitlines()
    for word in line.split(":", 1)[1].split(",")
}


def category(value: str) -> str | None:
    """Return what kind of choice a folded value is, where values of the kind are alternatives."""
    return _CATEGORY.get(value) or _CATEGORY.get(_VERSION.sub("", value))


_VERSION = re.compile(r" v?\d[\w.]*$")
_STATES = """
status: open, closed, in progress, done, blocked, resolved, on hold, pending, cancelled, canceled, finished, completed,
    under review, in review, shut, reopened, merged, rejected, approved, solved, unresolved
enabled: enabled, disabled, on, off, turned on, turned off, switched on, switched off, activated, deactivated
online: online, offline, up, down, reachable, unreachable
available: available, unavailable, sold out, in stock, out of stock
working: working, works, broken, out of order, repaired, fixed, broken down, defective, functional, not working, faulty,
    working fine, working again, mended
allowed: allowed, permitted, forbidden, prohibited, banned, not allowed
"""
_STATE = {
    fold(word): line.split(":", 1)[0]
    for line in _STATES.replace(",\n    ", ", ").strip().splitlines()
    for word in line.split(":", 1)[1].split(",")
}


def state_of(value: str) -> str | None:
    """Return of which state a folded value is one: the status of a ticket, whether a feature is enabled."""
    return _STATE.get(value)

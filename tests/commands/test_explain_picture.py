"""`stile explain --field X --svg FILE`: the picture of a neighbourhood, and its file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from handler.commands.explaining.neighbourhood_picture import NAMESPACE, PICTURE_HEADERS, neighbourhood_picture
from handler.commands.local.callers import caller_argument
from handler.commands.reach.reach import Reach
from handler.compiler.compile import compile_explained
from tests.commands.running import Stile
from tests.support.endpoints import write_endpoint

INDEX = """
schema @tool(name: "staff", graphql: [
  {expose: true, types: "Query|Team", fields: ".*"}, {expose: false, types: "Employee", fields: "badge"}
]) { query: Query }
type Query { employees(where: Filter): [Employee!]! team: Team node: Node thing: Thing }
type Team { lead: Employee }
interface Node { id: ID! }
union Thing = Team | Employee
type Employee implements Node { id: ID! name: String salary(in: Unit): Int badge: String boss: Employee }
enum Unit { EUR USD }
input Filter { name: String unit: Unit and: [Filter!] }
directive @slow(by: Unit) on FIELD
"""
CONFIG = """\
access:
  policies:
    - type: Query
      policyDefault: {condition: true}
    - type: Employee
      policyDefault: {condition: true}
      rules:
        - {condition: '$jwt.role:String == "hr"', fields: [salary]}
"""
PARTS = (
    *("Query", "Query.employees", "Query.employees(where:)", "Employee", "Employee.salary", "Employee.salary(in:)"),
    *("Node", "Node.id", "Thing", "Unit", "Unit.EUR", "Filter", "Filter.and", "Team.lead", "ID", "String"),
    *("@slow", "@slow(by:)"),
)
HOSTILE = "a</text><script>1</script>\u202e\x01\ufffe\"'&-->"


@pytest.fixture
def folder(workplace: Path) -> str:
    write_endpoint(workplace, {"index.graphql": INDEX, "config.yaml": CONFIG})
    (workplace / "hr.json").write_text('{"sub": "2", "role": "hr"}', encoding="utf-8")
    return "api/things"


def picture(folder: str, coordinate: str, caller: str) -> ET.Element:
    """The picture of an endpoint's part for a caller."""
    reach = Reach(*compile_explained(Path(folder), environ={}))
    return checked(neighbourhood_picture(reach, coordinate, reach.visitor(caller_argument(caller))))


def checked(text: str) -> ET.Element:
    """A picture, in which no element or attribute may act."""
    root = ET.fromstring(text)
    for each in root.iter():
        name = each.tag.removeprefix(f"{{{NAMESPACE}}}")
        assert name in ("svg", "title", "desc", "style", "text", "g", "rect", "path")
        assert not [key for key in each.attrib if key.startswith(("on", "{")) or key in ("href", "style")]
    assert "url(" not in text
    assert text.count("http") == 1  # the name space
    return root


def classes(root: ET.Element) -> dict[str, str]:
    """Coordinate or type -> the class of its line."""
    found = {}
    for group in root.iter(f"{{{NAMESPACE}}}g"):
        title = group.find(f"{{{NAMESPACE}}}title")
        if title is not None and title.text:
            found[title.text.split(": ")[0]] = group.attrib["class"]
    return found


def words(root: ET.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{{{NAMESPACE}}}text")]


def test_colours_say_what_the_caller_reaches_and_which_rule_hides_the_rest(folder: str) -> None:
    root = picture(folder, "Employee.salary", "anonymous")

    found = classes(root)
    assert found["Employee"] == "reached asked"
    assert found["Employee.salary"] == found["Employee.salary(in:)"] == "ruled"
    assert found["Employee.badge"] == "unasked"
    assert found["Team.lead"] == found["Query.employees"] == found["Employee.name"] == "reached"
    assert words(root).count("config.yaml:8") == 2
    description = root.find(f"{{{NAMESPACE}}}desc")
    assert description is not None
    assert 'Employee.salary: hidden by config.yaml:8 ($jwt.role:String == "hr").' in (description.text or "")


def test_picture_of_another_caller_differs(folder: str) -> None:
    assert classes(picture(folder, "Employee.salary", "hr.json"))["Employee.salary"] == "reached"


def test_every_kind_of_part_has_a_picture(folder: str) -> None:
    reach = Reach(*compile_explained(Path(folder), environ={}))
    for coordinate in PARTS:
        root = checked(neighbourhood_picture(reach, coordinate, reach.visitor(caller_argument("anonymous"))))
        title = root.find(f"{{{NAMESPACE}}}title")
        assert title is not None
        assert title.text == f"{coordinate} of api/things, for a caller without a credential"
        asked = [name for name, each in classes(root).items() if "asked" in each.split()]
        assert asked == [re.split(r"[.(]", coordinate)[0]]


def test_hostile_texts_stay_texts(folder: str, workplace: Path) -> None:
    claims = workplace / f"{HOSTILE.replace('/', '')}.json"
    claims.write_text("{}", encoding="utf-8")
    rule = "condition: '$jwt.x:String == \"</style><script>\"'"
    (workplace / folder / "config.yaml").write_text(CONFIG.replace("condition: '$jwt.role:String == \"hr\"'", rule))

    root = picture(folder, "Employee.salary", str(claims))
    assert "\\u202e\\x01\\ufffe" in words(root)[0]


def test_headers_allow_the_style_of_the_picture_and_nothing_else(folder: str) -> None:
    style = picture(folder, "Employee", "anonymous").find(f"{{{NAMESPACE}}}style")
    assert style is not None
    digest = base64.b64encode(hashlib.sha256((style.text or "").encode()).digest()).decode()
    assert PICTURE_HEADERS["content-security-policy"] == (
        f"default-src 'none'; frame-ancestors 'none'; style-src 'sha256-{digest}'"
    )


def test_file_is_written_and_an_older_one_is_replaced_with_a_word(stile: Stile, folder: str, workplace: Path) -> None:
    arguments = ("explain", folder, "--field", "Employee.salary", "--svg", "pay.svg", "--as", "anonymous")
    first = stile(*arguments)
    bytes_ = (workplace / "pay.svg").read_bytes()
    (workplace / "pay.svg").chmod(0o600)

    second = stile(*arguments)
    assert [(each.code, each.out, each.err) for each in (first, second)] == [
        (0, "Wrote pay.svg\n", ""),
        (0, "Replaced pay.svg\n", ""),
    ]
    assert (workplace / "pay.svg").read_bytes() == bytes_
    assert stat.S_IMODE((workplace / "pay.svg").stat().st_mode) == 0o600
    told = stile(*arguments, "--json")
    assert json.loads(told.out) == {"field": "Employee.salary", "file": "pay.svg", "replaced": True}
    assert [each.name for each in workplace.iterdir() if each.name.startswith(".pay")] == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--svg", "x.svg"), 2, "expected --field with the part to draw"),
        (("--field", "Query", "--svg", "x.svg", "--as", "anonymous", "--as", "hr.json"), 2, "--as once at most"),
        (("--field", "Query.nme", "--svg", "x.svg"), 2, 'has no field "nme"'),
        (("--field", "Query", "--svg", "x.svg", "--as", "key:no"), 2, 'there is no API key "no"'),
        (("--field", "Query", "--svg", "nowhere/x.svg"), 1, "nowhere/x.svg: No such file or directory"),
        (("--field", "Query", "--svg", "."), 1, "expected a new file or a file to replace"),
    ],
)
def test_refusals_write_nothing(
    stile: Stile, folder: str, workplace: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = stile("explain", folder, *arguments)

    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert not (workplace / "x.svg").exists()


def test_picture_of_several_endpoints_is_refused(stile: Stile, workplace: Path) -> None:
    for name in ("one", "two"):
        write_endpoint(workplace / "all" / "shop" / name, {"index.graphql": INDEX}, name=f"shop/{name}")

    done = stile("explain", "all", "--field", "Employee", "--svg", "x.svg")
    assert (done.code, done.out) == (2, "")
    assert "name the folder of one" in done.err

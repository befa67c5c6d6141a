"""What hiding a field hides with it, rule by rule; and over random schemas, against an oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from graphql import GraphQLSchema, build_schema, validate_schema
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from handler.compiler.access.propagation import Consequences
from handler.compiler.conditions import ConditionTable
from handler.compiler.problems import Place, Problems
from handler.compiler.schema.directives import VisibilityPattern
from handler.compiler.schema.visibility import hidden_by_patterns
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from handler.policy.evaluation import HIDDEN, Evaluation, Mask, hidden_from
from tests.compiler.access.hiding_oracle import coordinates_in_reach, expected_gone, expected_of_patterns, random_sdl
from tests.support.examples import examples
from tests.support.schemas import index_of, schema_of_sdl

SDL = """
type Query {
  employee(id: ID!): Employee
  employees(where: EmployeeFilter, orderBy: [EmployeeOrder!], minSalary: Int, first: Int = 9): [Employee!]
  customers(salaryGt: Int, where: CustomerFilter): [Customer!]
  departments(where: DepartmentFilter): [Department!]
  search(salaryGt: Int): [Found!]
  offices(salaryGt: Int): [Office!]
}
type Mutation { hire(input: Hire!): Employee pay(salary: Int, order: EmployeeOrder): Employee }
type Employee { id: ID! name: String salary: Int boss: Employee }
type Customer { name: String }
type Department { staff: [Employee!] }
type Office { name: String }
union Found = Customer | Employee
input EmployeeFilter { name: String salaryGt: Int salary_lt: Int and: [EmployeeFilter!] salaried: Boolean }
input CustomerFilter { salary: Int }
input DepartmentFilter { staff: StaffFilter }
input StaffFilter { salary: IntRange name: String }
input IntRange { gt: Int }
input Hire { name: String salary: Int }
enum EmployeeOrder { NAME_ASC SALARY_ASC SALARY_DESC }
"""


def guards_of(sdl: str, own: Mapping[str, Mask], *shown: str) -> dict[str, Mask]:
    return Consequences(build_schema(sdl), ConditionTable(), shown=shown).of(own)


def hidden_with(sdl: str, *own: str, shown: tuple[str, ...] = ()) -> set[str]:
    """What hiding ``own`` hides beside it."""
    return set(guards_of(sdl, dict.fromkeys(own, HIDDEN), *shown)) - set(own)


def members_hidden_with(sdl: str, *own: str) -> set[str]:
    """The same without types."""
    return {coordinate for coordinate in hidden_with(sdl, *own) if "." in coordinate}


def test_inputs_that_name_a_hidden_field_are_hidden_with_it() -> None:
    assert hidden_with(SDL, "Employee.salary") == {
        "EmployeeFilter.salaryGt",
        "EmployeeFilter.salary_lt",
        "EmployeeOrder.SALARY_ASC",
        "EmployeeOrder.SALARY_DESC",
        "Query.employees(minSalary:)",
        "Query.search(salaryGt:)",
        "StaffFilter.salary",
    }


def test_inputs_that_only_mutations_take_stay() -> None:
    assert "Hire.salary" not in hidden_with(SDL, "Employee.salary")
    assert "Mutation.pay(salary:)" not in hidden_with(SDL, "Employee.salary")


WRITES = """
type Query {{ staff: [E!] }} type Mutation {{ touch({}): Touched pay(input: Pay): E }} type Touched {{ affected: Int }}
type E {{ name: String salary: Int }} input Pay {{ salary: Int name: String, filter: Where }}
input Where {{ salaryGt: Int name: String and: [Where!] }} input Plain {{ salary: Int only: Range }}
input Range {{ gt: Int lt: Int }} enum Order {{ NAME SALARY_DESC }} enum Column {{ NAME SALARY }}
"""


@pytest.mark.parametrize(
    ("arguments", "hidden"),
    [
        ("where: Where", {"Where.salaryGt"}),
        ("which: [Where!]!", {"Where.salaryGt"}),  # by the type's name
        ("salaryGt: Int", {"Mutation.touch(salaryGt:)", "Where.salaryGt"}),
        ("salary: Range", {"Mutation.touch(salary:)", "Where.salaryGt"}),
        ("orderBy: Order", {"Order.SALARY_DESC", "Where.salaryGt"}),
        ("by: Order", {"Order.SALARY_DESC", "Where.salaryGt"}),
        ("orderBy: Column", {"Column.SALARY", "Where.salaryGt"}),
        ("set: Column", {"Where.salaryGt"}),
        ("salary: Int", {"Where.salaryGt"}),  # data, like all of ``Pay`` but for its filter
        ("set: Plain", {"Where.salaryGt"}),
    ],
)
def test_inputs_by_which_a_mutation_chooses_rows_are_hidden_and_its_data_stays(
    arguments: str, hidden: set[str]
) -> None:
    assert hidden_with(WRITES.format(arguments), "E.salary") - {"Mutation.touch"} == hidden


OWN = """
interface Node {{ id: ID! }} union Found = Repository | CodeOfConduct
type Query {{
  repository({0}): Repository repositories({0}): [Repository!] page({0}): RepositoryPage connection({0}): Connection
  node({0}): Node search({0}): [Found!] group({0}): Group conduct({0}): CodeOfConduct
}}
type Repository implements Node {{ id: ID! name: String size: Int conduct: CodeOfConduct conducts: [CodeOfConduct!] }}
type CodeOfConduct implements Node {{ id: ID! name: String size: Int }}
type RepositoryPage {{ items: [Repository!] total: Int name: String }}
type Connection {{ nodes: [Repository!] edges: [Edge!] pageInfo: PageInfo }}
type Edge {{ node: Repository name: String }}
type PageInfo {{ next: String }} type Group {{ name: String size: Int members: [CodeOfConduct!] }}
input Where {{ name: String conduct: ConductWhere nameLike: String }} input ConductWhere {{ name: String }}
enum Sort {{ NAME SIZE }}
"""

ROOTS = ("repository", "repositories", "page", "connection", "node", "search", "group", "conduct")


@pytest.mark.parametrize(
    ("argument", "staying"),
    [
        ("name: String", {"repository", "repositories", "page", "connection"}),
        ("nameLike: String", {"repositories", "page", "connection"}),
        ("maxName: String", set()),  # perhaps of many
        ("conductName: String", set()),
    ],
)
def test_argument_speaks_of_the_field_that_the_returned_rows_have_themselves(argument: str, staying: set[str]) -> None:
    found = hidden_with(OWN.format(argument), "CodeOfConduct.name")

    name = argument.partition(":")[0]
    assert {root for root in ROOTS if f"Query.{root}({name}:)" not in found} == staying


def test_lookup_by_a_visible_id_stays_and_one_of_anything_does_not() -> None:
    found = hidden_with(OWN.format("id: ID!"), "CodeOfConduct.id")

    assert {"Query.node(id:)", "Query.conduct(id:)", "Query.search(id:)", "Query.group(id:)"} <= found
    assert not {"Query.repository", "Query.repositories", "Query.page", "Query.connection"} & found


def test_filter_of_what_rows_are_linked_with_is_hidden_and_their_own_stays() -> None:
    found = hidden_with(OWN.replace("group({0})", "group").format("where: Where, orderBy: Sort"), "CodeOfConduct.name")

    assert "ConductWhere.name" in found
    # Where and Sort are also taken by fields that return codes of conduct.
    assert {"Where.name", "Sort.NAME"} <= found
    own = OWN.replace("({0})", "", 1).replace("node({0})", "node").replace("search({0})", "search")
    own = own.replace("group({0})", "group").replace("conduct({0})", "conduct").format("where: Where, orderBy: Sort")
    assert members_hidden_with(own, "CodeOfConduct.name") == {"ConductWhere.name", "Where.conduct"}


def test_filter_by_the_rows_own_guarded_field_is_hidden_though_others_have_one() -> None:
    found = hidden_with(OWN.format("nameLike: String"), "Repository.name")

    assert {f"Query.{root}(nameLike:)" for root in ("repositories", "page", "connection")} <= found


def test_name_of_a_page_with_a_sum_of_the_same_name_means_the_rows_on_it() -> None:
    sdl = """
        type Query { teams(membersPageSalaryGT: Int, staffSalary: Int): [Team!] } type Team { membersPage: Staff }
        type Staff { salary: Int nodes: [E!] } type E { name: String salary: Int }
    """
    found = hidden_with(sdl, "E.salary")

    assert {"Query.teams(membersPageSalaryGT:)", "Query.teams(staffSalary:)"} <= found


def test_link_by_the_name_of_a_filters_own_word_leads_to_other_rows() -> None:
    sdl = """
        type Query { staff(where: Where): [E!] } type E { name: String field: F } type F { name: String }
        input Where { field: Inner } input Inner { name: String }
    """
    assert "Inner.name" in hidden_with(sdl, "F.name")


def test_field_that_a_mutation_answers_is_asked_like_any_other() -> None:
    sdl = """
        type Query { a: Int } type Mutation { hire: Payload } type Payload { staff(salaryGt: Int): [E] }
        type E { name: String salary: Int }
    """
    assert hidden_with(sdl, "E.salary") == {"Payload.staff(salaryGt:)"}


def test_fields_of_root_types_are_named_by_no_input() -> None:
    sdl = "type Query { self(order: Int): Query order: Int }"

    assert hidden_with(sdl, "Query.order") == set()


OTHERS = """
type Query { gists(INPUT: Int): [Gist!] }
type Gist { id: ID! size: Int repository: Repository owner: Owner part: Part }
type Repository { id: ID! databaseId: Int maxSize: Int }
type Part { name: String }
interface Owner { id: ID! }
type User implements Owner { id: ID! gist: Gist }
"""


@pytest.mark.parametrize(
    ("name", "field", "hidden"),
    [
        ("id", "Gist.id", True),
        ("gistId", "Gist.id", True),
        ("idIn", "Gist.id", True),
        ("repositoryId", "Gist.id", False),  # a repository's
        ("byRepositoryID", "Gist.id", False),
        ("repository_id_in", "Gist.id", False),
        ("repositoryId", "Repository.id", True),
        ("partId", "Gist.id", True),  # a part has no id
        ("databaseId", "Gist.id", False),  # another field
        ("databaseIdIn", "Gist.id", False),
        ("foreignId", "Gist.id", True),
        ("ownerId", "Gist.id", False),
        ("ownerId", "User.id", True),  # a user is an owner
        ("userId", "Gist.id", False),
        ("userGistId", "Gist.id", True),
        ("maxSize", "Gist.size", True),  # that the name of another field begins with "max" does not matter
        ("sizeGt", "Gist.size", True),
    ],
)
def test_input_that_names_another_types_field_or_a_longer_one_stays(name: str, field: str, hidden: bool) -> None:
    found = hidden_with(OTHERS.replace("INPUT", name), field)

    assert (f"Query.gists({name}:)" in found) is hidden


def test_what_a_question_does_not_lead_to_it_cannot_mean() -> None:
    sdl = """
        type Query { gists(repositoryId: ID): [Gist!] r: Repository } type Gist { id: ID! a: Int }
        type Repository { id: ID! }
    """

    assert hidden_with(sdl, "Gist.id") == {"Query.gists(repositoryId:)"}


STAFF = """
type Query { staff(where: Where, orderBy: Order, minPay: Int): [Employee!] }
type Employee { name: String pay: Money grade: Grade bonus(year: Int!): Int }
input Where { name: String payGt: Int gradeIn: [Grade!] bonusGt: Int }
enum Order { NAME PAY_ASC GRADE_ASC BONUS_DESC }
enum Grade { A B }
type Money { amount: Int currency: String }
"""


@pytest.mark.parametrize(
    "own",
    [("Money",), ("Money.amount", "Money.currency"), ("Employee.pay",)],
    ids=["the type", "all that the type has", "the field"],
)
def test_inputs_are_hidden_that_name_a_field_of_a_hidden_type(own: tuple[str, ...]) -> None:
    assert {"Where.payGt", "Order.PAY_ASC", "Query.staff(minPay:)"} <= hidden_with(STAFF, *own)
    assert not {"Where.name", "Order.NAME", "Where.gradeIn"} & hidden_with(STAFF, *own)


def test_inputs_are_hidden_that_name_a_field_of_a_hidden_enum() -> None:
    assert hidden_with(STAFF, "Grade") == {"Employee.grade", "Where.gradeIn", "Order.GRADE_ASC"}


def test_inputs_are_hidden_that_name_a_field_whose_required_argument_is_hidden() -> None:
    assert hidden_with(STAFF, "Employee.bonus(year:)") == {"Employee.bonus", "Where.bonusGt", "Order.BONUS_DESC"}


def test_default_that_names_what_is_hidden_is_lost_and_takes_nothing_that_a_caller_can_give() -> None:
    sdl = (
        "type Query { a(f: F = {g: {}}): Int b(f: F = {o: null}): Int } input F { g: G o: O n: Int } input G { x: Int }"
    )

    assert hidden_with(f"{sdl} enum O {{ A }}", "G.x") == {"G", "F.g", "Query.a(f:)="}
    assert hidden_with(f"{sdl} enum O {{ A }}", "O.A") == {"O", "F.o", "Query.b(f:)="}


@pytest.mark.parametrize("name", ["maxPay", "minPay", "MAX_PAY", "payMax"])
def test_word_for_what_is_done_with_a_field_names_no_other_owner_of_it(name: str) -> None:
    sdl = f"""
        type Query {{ staff({name}: Int): Staff }} type Staff {{ nodes: [Employee!] aggregates: Aggregates }}
        type Aggregates {{ max: Highest min: Highest }} type Highest {{ pay: Int }} type Employee {{ a: Int pay: Int }}
    """
    assert f"Query.staff({name}:)" in hidden_with(sdl, "Employee.pay")


@pytest.mark.parametrize(
    ("field", "name", "hidden"),
    [
        ("email", "emails", True), ("email", "emailsIn", True), ("emails", "email_gt", True),
        ("salary", "salaries", True), ("address", "addresses", True), ("tag", "TAGS_DESC", True),
        ("sku", "SKUs", True), ("news", "newsletter", False),
    ],
)  # fmt: skip
def test_plural_names_the_same_field(field: str, name: str, hidden: bool) -> None:
    sdl = f"type Query {{ es({name}: [Int!]): [E!] }} type E {{ a: Int {field}: Int }}"

    assert (f"Query.es({name}:)" in hidden_with(sdl, f"E.{field}")) is hidden


MIRRORED = """
    type Query { shops(where: ShopInput): [Shop!] rules(rule: RuleInput): [Rule!] shop(id: ID): Shop }
    type Mutation { addRule(rule: RuleInput!): AddedRule }
    type Shop { id: ID! title: String zone: Zone } type Zone { id: ID! area: Area }
    type Area { country: Country } type Country { union: Union } type Union { regions: [Region!] }
    type Region { id: ID! code: String } type AddedRule { rule: Rule }
    type Rule { id: ID! %s shop: Shop }
    input ShopInput { title: String rules: [RuleInput!] } input RuleInput { code: String title: String }
"""


def test_input_that_is_called_after_a_type_is_about_its_field() -> None:
    assert hidden_with(MIRRORED % "code: String", "Region.code") == set()


@pytest.mark.parametrize(
    ("sdl", "own"),
    [
        pytest.param(MIRRORED % "code: String", "Rule.code", id="own field of the type"),
        pytest.param(MIRRORED % "name: String", "Region.code", id="type without such a field"),
        pytest.param((MIRRORED % "code: String").replace("RuleInput", "RegionInput"), "Region.code", id="other name"),
        pytest.param((MIRRORED % "code: String").replace("RuleInput", "RuleMaxInput"), "Region.code", id="aggregate"),
        pytest.param((MIRRORED % "code: String").replace("{ code: S", "{ maxCode: S"), "Region.code", id="maximum"),
        pytest.param((MIRRORED % "code: String").replace("{ code: S", "{ regionCode: S"), "Region.code", id="owner"),
        pytest.param((MIRRORED % "code: String").replace("zone: Zone", "zone: Region"), "Region.code", id="contained"),
        pytest.param((MIRRORED % "code: String").replace("[Shop!]", "[Region!]"), "Region.code", id="returned"),
        pytest.param((MIRRORED % "code: String region: Region"), "Region.code", id="linked to the payload's row"),
    ],
)
def test_input_that_is_called_after_a_type_may_be_about_a_field_nearby(sdl: str, own: str) -> None:
    assert any(each.endswith(("Code", ".code")) and "Input." in each for each in hidden_with(sdl, own))


RELATED = """
    type Query { people: [Person!] %s }
    type Person { id: ID! pay: Int } type Worker { id: ID! pay: Int title: String }
    type Firm { id: ID! teams: Teams } type Teams { edges: [TeamEdge!] } type TeamEdge { node: Team }
    type Team { id: ID! seats: [Seat!] } type Seat { id: ID! at: Desk } type Desk { id: ID! worker: Worker }
    input TeamFilter { seats: SeatFilter } input SeatFilter { desks: DeskFilter } input DeskFilter { by: PersonFilter }
    input PersonFilter { pay: Int id: ID }
"""


@pytest.mark.parametrize(
    "sdl",
    [
        pytest.param(RELATED % "firms(where: TeamFilter): [Firm!]", id="inputs in inputs"),
        pytest.param(
            RELATED % "rooms(where: PersonFilter): Rooms"
            + "type Rooms { edges: [RoomEdge!] } type RoomEdge { node: Room } type Room { id: ID! staff: Staff }"
            + "type Staff { edges: [StaffEdge!] } type StaffEdge { node: Worker }",
            id="pages",
        ),
        pytest.param(RELATED % "a: Team } type Mutation { fire(where: PersonFilter): Int", id="count"),
        pytest.param(
            RELATED % "a: Team } type Mutation { fire(where: PersonFilter): Fired } type Fired { rows: Int",
            id="payload of a count",
        ),
    ],
)
def test_input_that_is_called_after_a_type_may_choose_by_a_linked_one(sdl: str) -> None:
    assert "PersonFilter.pay" in hidden_with(sdl, "Worker.pay")


def test_inputs_take_the_masks_of_all_the_fields_they_name() -> None:
    sdl = """
        type Query { people(where: In): [Person] } interface Person { pay: Int a: Int }
        type A implements Person { pay: Int a: Int } type B implements Person { pay: Int a: Int }
        input In { pay: Int a: Int }
    """
    guards = guards_of(sdl, {"A.pay": frozenset({1}), "B.pay": frozenset({2, 3})})

    assert guards == {
        "A.pay": {1},
        "B.pay": {2, 3},
        "Person.pay": {1, 2, 3},
        "In.pay": {1, 2, 3},
    }


def test_shown_input_is_left_alone_and_the_others_are_not() -> None:
    shown = ("EmployeeFilter.salaryGt", "EmployeeOrder.SALARY_ASC")

    assert hidden_with(SDL, "Employee.salary", shown=shown) == hidden_with(SDL, "Employee.salary") - set(shown)


def test_shown_input_keeps_what_other_rules_put_on_it() -> None:
    sdl = "type Query { a(tax: In): A } type A { tax: Int } input In { x: Int! }"

    assert "Query.a(tax:)" in hidden_with(sdl, "A.tax", "In.x", shown=("Query.a(tax:)",))


def test_interface_field_hides_its_implementers_and_a_field_its_interfaces() -> None:
    sdl = """
        type Query { a: I } interface I { f(x: Int): Int g: Int } type T implements I { f(x: Int): Int g: Int }
        type U implements I { f(x: Int, y: Int): Int g: Int }
    """
    assert hidden_with(sdl, "I.f") == {"T.f", "U.f"}
    assert hidden_with(sdl, "T.f") == {"I.f"}
    assert hidden_with(sdl, "I.f(x:)") == {"T.f(x:)", "U.f(x:)"}
    assert hidden_with(sdl, "T.f(x:)") == {"I.f(x:)"}
    assert hidden_with(sdl, "U.f(y:)") == set()


def test_field_that_everything_has_does_not_chain() -> None:
    types = "".join(f"type T{n} implements Node & Named {{ id: ID! a: Int }} " for n in range(100))
    sdl = (
        f"type Query {{ node: Node }} interface Node {{ id: ID! a: Int }} interface Named {{ id: ID! a: Int }} {types}"
    )

    assert hidden_with(sdl, "T7.id") == {"Node.id", "Named.id"}


@pytest.mark.parametrize(
    ("own", "follows"),
    [
        ("Query.a(x:)", {"Query.a"}),
        ("Query.b(x:)", set()),
        ("Query.c(x:)", set()),
        ("In.need", {"In", "Query.d(x:)", "Outer.deep", "Outer", "Query.e(x:)", "Query.e"}),
        ("In.may", {"Query.f(x:)="}),
        ("Order.SALARY", {"Query.g(x:)=", "Query.h(x:)=", "Query.i(x:)=", "Defaults.order=", "Query.l(x:)="}),
        ("Money", {"Query.money", "Query.j(x:)"}),
        (
            "Order",
            # Neither the caller nor the API may give these a value.
            {
                *(
                    "Query.g(x:)",
                    "Query.h(x:)",
                    "Query.i(x:)",
                    "Defaults.order",
                    "Ordered.order",
                    "Query.l(x:)",
                    "Query.m(x:)",
                ),
                *("Query.g(x:)=", "Query.h(x:)=", "Query.i(x:)=", "Defaults.order=", "Query.l(x:)="),
                *("Query.g", "Query.h", "Query.i", "Query.l", "Defaults", "Ordered"),
            },
        ),
    ],
)
def test_what_needs_a_hidden_input_is_hidden_with_it(own: str, follows: set[str]) -> None:
    sdl = """
        type Query {
          a(x: Int!): Int b(x: Int): Int c(x: Int! = 1): Int d(x: In): Int e(x: Outer!): Int
          f(x: In2 = {in: [{need: 1, may: 2}]}): Int g(x: Order = SALARY): Int h(x: [Order!]! = [NAME, SALARY]): Int
          i(x: Ordered = {order: SALARY}): Int money: Money j(x: Money): Int k(x: In3): Int
          l(x: [Defaults!] = [{}]): Int m(x: Defaults): Int
        }
        input In { need: Int! may: Int } input Outer { deep: In! } input In2 { in: [In3] }
        input In3 { need: Int may: Int }
        input Ordered { order: Order } input Defaults { order: Order = SALARY }
        enum Order { NAME SALARY } scalar Money
    """
    own = own.replace("In.may", "In3.may")

    assert hidden_with(sdl, own) == follows


def view_of(schema: GraphQLSchema, guards: Mapping[str, Mask]) -> set[str]:
    """The coordinates of the view that ``guards`` leave."""
    sdl = print_view(build_view(index_of(schema), hidden_from(frozenset(), guards)))
    return coordinates_in_reach(schema_of_sdl(sdl)) if sdl else set()


class Case:
    """Random patterns and hides: what the rules hide with them, and what is left with the rules and without."""

    def __init__(self, random: Random) -> None:
        self.schema = build_schema(random_sdl(random))
        hideable = sorted(each for each in coordinates_in_reach(self.schema) if "." in each)
        patterns = [(".*", "q.*", True), *((*random.choice(PATTERNS), False) for _ in range(random.randint(0, 2)))]
        own = hidden_by(self.schema, patterns)
        assert set(own) == expected_of_patterns(self.schema, patterns)
        own |= dict.fromkeys(random.sample([*hideable, *TYPES], random.randint(0, 3)), HIDDEN)
        inputs = [each for each in hideable if each.startswith(("F", "O")) or "(" in each]
        self.shown = set(random.sample(inputs, random.randint(0, 2))) - set(own)
        self.gone = expected_gone(self.schema, set(own), self.shown)
        self.guards = Consequences(self.schema, ConditionTable(), shown=self.shown).of(own)
        self.left = view_of(self.schema, self.guards)
        self.left_without_rules = view_of(self.schema, own)


TYPES = ("T0", "T1", "I0", "F0", "F1", "O0")

PATTERNS = (("T0", "salary"), ("T[12]", "taxId|age"), ("I0|T1", "na.*"), (".*", "salary|toT."), ("T.", "name"))


def hidden_by(schema: GraphQLSchema, patterns: Sequence[tuple[str, str, bool]]) -> dict[str, Mask]:
    """What the product hides by patterns alone."""
    at = Place("index.graphql")
    made = [VisibilityPattern(at=at, expose=expose, types=types, fields=fields) for types, fields, expose in patterns]
    return hidden_by_patterns(schema, made, Problems()) or {}


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_rules_hide_what_the_oracle_says_and_nothing_else(random: Random) -> None:
    case = Case(random)

    assert set(case.guards) == case.gone
    assert not case.left & case.gone


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_what_the_rules_leave_is_a_valid_schema(random: Random) -> None:
    case = Case(random)
    assume(not validate_schema(case.schema))  # a default may lack what its type requires

    sdl = print_view(build_view(index_of(case.schema), hidden_from(frozenset(), case.guards)))

    assert not sdl or validate_schema(build_schema(sdl)) == []


@settings(max_examples=examples(100), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_callers_of_every_outcome_lose_what_would_be_hidden_with_what_they_lack(random: Random) -> None:
    schema = build_schema(random_sdl(random))
    conditions = ConditionTable()
    numbers = [0, *(number for name in "ab" for number in conditions.mask({"exists": {"jwt": [name]}}))]
    chosen = random.sample([*sorted(coordinates_in_reach(schema)), *TYPES], random.randint(4, 8))
    own = {coordinate: frozenset(random.sample(numbers, random.randint(1, 2))) for coordinate in chosen}

    guards = Consequences(schema, conditions).of(own)

    for claims in ({}, {"a": 1}, {"b": 1}, {"a": 1, "b": 1}):
        caller = Evaluation(conditions, claims=claims)
        lacking = {coordinate for coordinate, mask in own.items() if not caller.meets(mask)}
        lost = {coordinate for coordinate, mask in guards.items() if not caller.meets(mask)}
        assert lost == expected_gone(schema, lacking, set())


def test_without_the_rules_something_would_be_left() -> None:
    violations = [case.left_without_rules & case.gone for case in (Case(Random(seed)) for seed in range(100))]

    assert sum(map(bool, violations)) > 30
    kinds = {coordinate.partition(".")[0][:2] for found in violations for coordinate in found}
    assert {"Qu", "F0", "O0"} <= kinds  # arguments, input fields and enum values


def many_rules(types: int, fields: int) -> tuple[str, dict[str, Mask], ConditionTable]:
    """Types that an interface joins and that lead to each other, every field with a condition of its own."""
    conditions = ConditionTable()
    own: dict[str, Mask] = {}
    parts = ["type Query { all: [I!]! }", "interface I { shared: Int }"]
    for kind in range(types):
        names = [f"f{number}" for number in range(fields)]
        links = f"next: T{(kind + 1) % types} other: T{(kind + 2) % types}"
        parts.append(
            f"type T{kind} implements I {{ shared: Int {' '.join(f'{name}: Int' for name in names)} {links} }}"
        )
        for name in ("shared", "next", "other", *names):
            own[f"T{kind}.{name}"] = conditions.mask({"exists": {"jwt": [f"{kind}{name}"]}})
    return "\n".join(parts), own, conditions


def test_hundreds_of_rules_on_types_that_lead_to_each_other_make_few_conditions() -> None:
    sdl, own, conditions = many_rules(20, 20)

    guards = Consequences(build_schema(sdl), conditions).of(own)

    assert len(conditions) <= 1 + len(own) + 3 * 20
    for claims in ({}, {"3f7": 1}, {"3f7": 1, "2next": 1}):
        caller = Evaluation(conditions, claims=claims)
        lost = {name for name in (f"T{kind}" for kind in range(20)) if not caller.meets(guards[name])}
        assert {*["T2", "T3"]} - lost == {*["T3"] * bool(claims), *["T2"] * (len(claims) == 2)}

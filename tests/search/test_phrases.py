"""Words of questions find the words of schemas for the same."""

from __future__ import annotations

import pytest

from handler.search.phrases import _MEANINGS, _PHRASES, MEANINGS, PHRASES
from handler.search.ranking import Ranked, Ranking
from handler.search.schema_search import SchemaSearch
from tests.search.schemas import view_of

MACHINES = """
type Query { hosts: [Host!] vms: [Vm!] }
type Host { name: String cpuUsage: Float ram: Int storage: Int freeBytes: Int }
type Sensor { temperature: Float humidity: Float }
type Vm { name: String sensor: Sensor }
type Mutation { vmShutdown(id: ID!): Vm vmBoot(id: ID!): Vm vmDestroy(id: ID!): Vm vmUpdate(id: ID!): Vm }
"""
SHOP = """
type Query { orders: [Order!] customers: [Customer!] invoices: [Invoice!] organizations: [Organization!] }
type Order { number: Int price: Float image: String }
type Customer { telephone: String birthday: String }
type Invoice { due: String }
type Organization { size: Int }
type Mutation { authenticate(name: String): Customer signout: Boolean signup: Customer }
"""


@pytest.mark.parametrize(
    ("sdl", "question", "answer"),
    [
        (MACHINES, "turn off a virtual machine", "Mutation.vmShutdown"),
        (MACHINES, "turn the virtual machine off", "Mutation.vmShutdown"),
        (MACHINES, "shut down the vm", "Mutation.vmShutdown"),
        (MACHINES, "stop a vm", "Mutation.vmShutdown"),
        (MACHINES, "switch on a virtual machine", "Mutation.vmBoot"),
        (MACHINES, "start the vm", "Mutation.vmBoot"),
        (MACHINES, "delete a virtual machine", "Mutation.vmDestroy"),
        (MACHINES, "get rid of the vm", "Mutation.vmDestroy"),
        (MACHINES, "throw that vm away", "Mutation.vmDestroy"),
        (MACHINES, "erase a vm", "Mutation.vmDestroy"),
        (MACHINES, "modify a vm", "Mutation.vmUpdate"),
        (MACHINES, "how busy is the processor", "Host.cpuUsage"),
        (MACHINES, "how much memory", "Host.ram"),
        (MACHINES, "how large is the disk", "Host.storage"),
        (MACHINES, "how warm is it", "Sensor.temperature"),
        (MACHINES, "how full is a host", "Host.freeBytes"),
        (SHOP, "how expensive is an order", "Order.price"),
        (SHOP, "picture of an order", "Order.image"),
        (SHOP, "phone of a client", "Customer.telephone"),
        (SHOP, "birthday of a buyer", "Customer.birthday"),
        (SHOP, "size of a company", "Organization.size"),
        (SHOP, "when is a bill due", "Invoice.due"),
        (SHOP, "log in", "Mutation.authenticate"),
        (SHOP, "sign out", "Mutation.signout"),
        (SHOP, "sign up", "Mutation.signup"),
    ],
)
def test_words_of_people_find_words_of_schemas(sdl: str, question: str, answer: str) -> None:
    results = [match.coordinate for match in SchemaSearch(view_of(sdl)).search(question, 3)]

    assert answer in results


@pytest.mark.parametrize("name", ["me", "viewer", "currentUser", "current_user", "whoAmI", "activeCustomer", "getMe"])
@pytest.mark.parametrize("question", ["who am I signed in as?", "Who am I", "show my own account", "my profile"])
def test_the_caller_is_the_first_result_of_a_question_about_the_caller(name: str, question: str) -> None:
    sdl = (
        f"type Query {{ signs: Int account: Int users: [User!] {name}: User }} type User {{ profile: String me: Int }}"
    )
    search = SchemaSearch(view_of(sdl))

    assert search.search(question, 1)[0].coordinate == f"Query.{name}"
    assert search.search("users", 1)[0].coordinate != f"Query.{name}"


def test_a_hidden_caller_is_not_a_result() -> None:
    sdl = "type Query { me: User users: [User!] } type User { name: String }"
    results = SchemaSearch(view_of(sdl, hidden=["Query.me"])).search("who am I", 9)

    assert results == SchemaSearch(view_of(sdl.replace("me: User", ""))).search("who am I", 9)
    assert not any(match.coordinate == "Query.me" for match in results)


def test_tools_are_found_by_them_too() -> None:
    ranking = Ranking([Ranked(name, (name,)) for name in ("GetCurrentUser", "ListUsers", "DisableServer", "GetServer")])

    assert ranking.rank("who am I")[0][0] == "GetCurrentUser"
    assert ranking.rank("turn off the server")[0][0] == "DisableServer"


def test_the_word_itself_is_best() -> None:
    sdl = "type Query { a: Int } type Mutation { deleteOrder: Int removeOrder: Int destroyOrder: Int }"

    assert SchemaSearch(view_of(sdl)).search("destroy an order", 1)[0].coordinate == "Mutation.destroyOrder"


def test_each_phrase_has_a_word_of_the_table() -> None:
    assert len(PHRASES) == len(_PHRASES)
    assert set(_PHRASES.values()) <= {word for words in _MEANINGS for word in words.split()}
    assert all(MEANINGS.values())

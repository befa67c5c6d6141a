"""Questions of first users are answered two clicks from README at most, within 150 words of the place clicked to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.docs.pages import read, section
from tests.docs.test_links import HEADING, LINK, anchors, links

MAX_CLICKS = 2
MAX_WORDS = 150
HUB = "docs/README.md"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the places that are clicked to from README, and a pattern for the sentence that answers it.

    The line with the first link has the words ``by``, or is in a paragraph with them.
    """

    ask: str
    clicks: Sequence[str]
    answer: str
    by: str = ""


def of_hub(ask: str, place: str, answer: str) -> Question:
    """A question that the hub has in these words, with a link to the place of its answer."""
    return Question(ask, (HUB, place), answer, by="questions of first users")


QUESTIONS = (
    # The look at the first hour asked these.
    of_hub(
        "How do I pass the caller's token on to my API?",
        "docs/upstream.md#choose-a-credential",
        r"passthrough: \{audience: \S+ \| the caller's own token",
    ),
    of_hub(
        "How do I limit the rate of calls?",
        "docs/limits.md#limit-the-rate-of-calls",
        r"limits the rate of all callers together: the template's ThrottleRate is 40",
    ),
    of_hub(
        "How do I add a second API?",
        "docs/endpoints.md#a-second-api",
        r"a second API is a second folder beside the first: stile init endpoints/shop/stock --from",
    ),
    of_hub(
        "Why did a call fail yesterday?",
        "docs/operate.md#find-a-failed-call",
        r'filter ispresent\(tool\) and outcome not in \["ok".*? The first word of reason is the cause',
    ),
    of_hub(
        "How do I hide a field from everyone?",
        "docs/security/hiding.md",
        r"no caller and no tool to have the field \| access\.hide in config\.yaml \| everybody",
    ),
    of_hub(
        "How do I test a tool in CI?",
        "docs/operation-tests.md",
        r"stile test makes the calls .*?CI needs no API, no network and no secret",
    ),
    of_hub(  # of an operation
        "How do I test a tool in CI?",
        "docs/operation-tests.md",
        r"tools\.test\.yaml beside config\.yaml lists calls of tools.*?stile test makes the calls.*?CI needs no API",
    ),
    of_hub(
        "How does a tool return an image?",
        "docs/code-tools.md#results",
        r"Text, Image, Audio, .*? \| the blocks.*?return \[Text\(.*?Image\(b.*?\"image/png\"\)",
    ),
    of_hub("How much does it cost?", "docs/operate/money.md", r"a million calls in a month cost about 11 US dollars"),
    Question("How much does it cost?", (), r"million calls\b.*? 11 (US )?dollars", by="Cost"),
    of_hub(
        "How do I upgrade Stile?",
        "docs/operate/upgrade.md",
        r"deploy and publish in any order.*? sam build && sam deploy",
    ),
    of_hub(
        "How do I give Claude or VS Code the key of a deployed endpoint?",
        "docs/clients.md#with-a-key",
        r"stile connect claude-code https://\S+ --as key:\w+ claude mcp add .*?X-API-Key: .*?vscode for VS Code",
    ),
    Question("How do I run the tests?", (), r"make test runs the tests: \w+ minutes", by="Try it"),
    # Further ones, which a first user comes upon.
    of_hub(
        "How do I start from an API that wants a credential?",
        "docs/start.md#send-a-credential",
        r"stile init shop/private --from \S+ -H 'Authorization: Bearer \$TOKEN'",
    ),
    of_hub(
        "How do I have one URL for tests and one for production?",
        "docs/endpoints.md#stages",
        r"--stage prod lays config\.prod\.yaml over config\.yaml",
    ),
    of_hub(
        "How do I make a key that only one partner has?",
        "docs/security/callers.md#api-keys",
        r"stile key NAME makes a key and prints the lines for config\.yaml",
    ),
    of_hub(
        "How does each caller see their own rows alone?",
        "docs/security/policies.md#rows-are-the-apis-columns-are-ours",
        r"Which rows a field returns is decided by the API.*?tell the API which caller asks",
    ),
    of_hub(
        "Why does a caller not see a tool or a field?",
        "docs/cli.md#explain",
        r"stile explain endpoints --as anonymous .*? Hidden: .*?config\.yaml:\d+: \S+ Order\.margin",
    ),
    of_hub(
        "How do I have the user asked before a mutation?",
        "docs/confirm.md",
        r"sends nothing until its user has seen the request and agreed\. Take confirm: required",
    ),
    of_hub(
        "Why was an answer cut?",
        "docs/limits.md#results-that-are-too-long",
        r"limits\.max_result_bytes is the size of the JSON document, 48,000 bytes by default",
    ),
    of_hub(
        "How do I renew the API's schema?",
        "docs/start.md#renew-the-schema",
        r"stile pull shop/customers .*?new problems and warnings, at their place in your files",
    ),
    of_hub("How do I take a bad version back?", "docs/publishing.md#go-back", r"stile rollback s3://BUCKET"),
    of_hub(
        "How do I run it without AWS, beside an API without TLS?",
        "docs/serve.md#an-api-without-tls",
        r"--allow-http HOST lets requests to a host go without TLS",
    ),
    of_hub(
        "How do people sign in with Microsoft Entra?",
        "docs/security/entra.md",
        r"Register the API\. .*?Register the client.*?Copy the ids into config\.yaml",
    ),
    of_hub(
        "How do I deploy with Terraform?",
        "docs/deploy-elsewhere.md#with-terraform",
        r'module "stile" \{ source = "\.\./stile/infra/terraform".*? terraform init && terraform apply',
    ),
    of_hub("How do I use Stile without a clone?", "docs/install.md#as-a-wheel", r"make dist .*?pip install"),
    Question(
        "Which credential does my API get?",
        ("docs/upstream.md",),
        r"auth: \{header: [\w-]+, value: secret:\w+\}",
        by="credential",
    ),
    Question(
        "How do I connect Claude Code?", ("docs/clients.md",), r"stile connect CLIENT prints the lines", by="connect"
    ),
    Question("How do I move from FastMCP?", ("docs/from-fastmcp.md",), r"(?i)change the import", by="FastMCP"),
)


def as_read(text: str) -> str:
    """The words of Markdown as a reader sees them."""
    without_links = LINK.sub(lambda link: link[0][1 : link[0].rindex("](")], text)
    return " ".join(re.sub(r"^```.*$|[`]|\*\*", "", without_links, flags=re.MULTILINE).split())


def place_text(place: str) -> str:
    """The words of a page from its beginning, or from the heading of the place."""
    page, _, anchor = place.partition("#")
    text = read(page)
    (start,) = [each.start() for each in HEADING.finditer(text) if anchors(each[0]) == {anchor}] if anchor else [0]
    return as_read(text[start:])


def targets(page: str, text: str) -> list[str]:
    """The places that a part of a page links to."""
    return [posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in links(text)]


def words_before(question: Question) -> int:
    """The words from the last place clicked to, until the sentence with the answer begins."""
    text = place_text(question.clicks[-1]) if question.clicks else as_read(section(read("README.md"), question.by))
    found = re.search(question.answer, text)
    assert found, f"{question.ask}: {text[:1500]}"
    assert len(found[0].split()) <= MAX_WORDS, f"{question.ask}: the answer takes {len(found[0].split())} words"
    begin = max(text.rfind(mark, 0, found.start()) for mark in (". ", ": ", "| "))
    return len(text[: begin + 1].split())


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.ask)
def test_answer_is_found_by_two_clicks_and_few_words(question: Question) -> None:
    assert len(question.clicks) <= MAX_CLICKS
    page = "README.md"
    for place in question.clicks:
        text = read(page)
        if page == HUB:
            lines = [line for line in text.splitlines() if line.startswith(f"| {question.ask} |")]
        else:
            lines = [part for part in re.split(r"\n\n|\n(?=[-|\d])", text) if question.by in part]
        assert place in [link for line in lines for link in targets(page, line)], (page, place)
        page = place.partition("#")[0]
    assert words_before(question) <= MAX_WORDS


def test_questions_of_the_hub_are_those_of_the_list() -> None:
    rows = re.findall(r"^\| (.*\?) \|", section(read(HUB), "Questions of first users"), re.MULTILINE)

    assert rows
    assert set(rows) == {question.ask for question in QUESTIONS if HUB in question.clicks}


@pytest.mark.parametrize(
    ("place", "answer"),
    [("docs/upstream.md#choose-a-credential", "no such words"), ("docs/code-tools.md", r"Image\(b")],
)
def test_answer_that_is_missing_or_late_is_seen(place: str, answer: str) -> None:
    with pytest.raises(AssertionError):
        assert words_before(Question("?", (HUB, place), answer)) <= MAX_WORDS

"""A folder in which somebody uses Stile for the first time, with a project without mistakes to begin from."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from handler.__main__ import main
from tests.commands.running import ran
from tests.support.endpoints import write_endpoint
from tests.support.secrecy import SESSION, Output

ENDPOINT = "endpoints/corp/staff"

INDEX = """\
extend schema
  @sdl(files: ["schema.graphql"])
  @tool(
    name: "staff-query"
    title: "Questions about staff"
    graphql: [
      {expose: true, types: "Query", fields: "me|employee|announcements"}
      {expose: false, types: "Employee", fields: "salary|payslips"}
    ]
  )
  @tool(name: "card", title: "Card of an employee", prescribed: "EmployeeCard")
"""
SCHEMA = """\
type Query {
  "The employee who asks."
  me: Employee
  "One employee."
  employee(id: ID!): Employee
  "News of the company."
  announcements: [Announcement!]!
}

type Employee {
  id: ID!
  fullName: String!
  salary: Int
  manager: Employee
  payslips(year: Int!): [Payslip!]!
}

type Payslip { month: Int! amount: Int! }

type Announcement { headline: String! }
"""
MY_PAY = """\
"Pay slips of one year."
query MyPay($employee: ID! @mcpBind(claim: "employee_id"), $year: Int!)
@mcpTool(name: "my_pay", title: "My pay slips") {
  employee(id: $employee) { payslips(year: $year) { month amount } }
}
"""
CARD = """\
"The card of an employee."
query EmployeeCard($id: ID!) {
  employee(id: $id) { fullName manager { fullName } }
}
"""
NEWS = """\
"News of the company."
query News @mcpTool(name: "news", title: "News") { announcements { headline } }
"""
CONFIG = """\
upstream:
  url: https://api.corp.example/graphql
limits:
  max_depth: 4
access:
  anonymous: challenge
  policies:
    - type: Query
      policyDefault:
        condition: "?$jwt"
    - type: Employee
      policyDefault:
        condition: "?$jwt"
      rules:
        - condition: '$jwt.roles:String has "manager"'
          fields: [salary]
identity:
  issuer: https://id.corp.example
  audience: https://mcp.corp.example
  keys:
    - algorithm: HS256
      key: env:CORP
"""
FILES: Mapping[str, str] = {
    "index.graphql": INDEX,
    "schema.graphql": SCHEMA,
    "operations/my_pay.graphql": MY_PAY,
    "operations/employee_card.graphql": CARD,
    "operations/news.graphql": NEWS,
    "config.yaml": CONFIG,
}


class Workshop:
    """One folder with the project, and the commands that somebody types there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        write_endpoint(folder, FILES, name=ENDPOINT)

    @property
    def endpoint(self) -> Path:
        """The endpoint's folder."""
        return self.folder / ENDPOINT

    def write(self, name: str, text: str) -> None:
        """Write a file; its name begins at the endpoint's folder, or with ``/`` at the current one."""
        file = self._file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text that a file has once."""
        text = self._file(name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name} has {old!r} {text.count(old)} times"
        self.write(name, text.replace(old, new))

    def ask(self, url: str) -> None:
        """Let the endpoint ask the API at this URL."""
        self.change("config.yaml", "https://api.corp.example/graphql", url)

    def rename(self, old: str, new: str) -> None:
        """Rename a file or folder."""
        self._file(old).rename(self._file(new))

    def place_of(self, name: str, token: str) -> str:
        """The place of a text that a file has once, as ``file:line:column``, with the file as commands print it."""
        before, found, after = self._file(name).read_text(encoding="utf-8").partition(token)
        assert found, f"{name} does not have {token!r}"
        assert token not in after, f"{name} has {token!r} twice"
        shown = name.removeprefix("/") if name.startswith("/") else f"{ENDPOINT}/{name}"
        return f"{shown}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"

    def stile(self, *words: str) -> str:
        """All that a command prints, run in this process."""
        printed = io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            contextlib.suppress(SystemExit),  # argparse ends so
        ):
            main(words)
        SESSION.note(Output.COMMAND, printed.getvalue())
        return printed.getvalue()

    def stile_apart(self, *words: str, **environ: str) -> str:
        """All that a command prints, run in a process of its own, with more variables."""
        with contextlib.chdir(self.folder):
            done = ran(*words, **environ)
        return done.out + done.err

    def _file(self, name: str) -> Path:
        return self.folder / name[1:] if name.startswith("/") else self.endpoint / name


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Workshop]:
    """A workshop in a new folder."""
    folder.mkdir(parents=True)
    yield Workshop(folder)

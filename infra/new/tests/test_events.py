"""Replay the event of a request to each endpoint, as API Gateway sends it to the function."""

import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EVENT = (ROOT / "tests" / "events" / "tools-list.json").read_text("utf-8")


class EventsTest(unittest.TestCase):
    endpoints: list[str]

    @classmethod
    def setUpClass(cls) -> None:
        bundles = tempfile.TemporaryDirectory()
        cls.addClassCleanup(bundles.cleanup)
        command = [sys.executable, "-m", "handler", "build", str(ROOT / "endpoints"), "--out", bundles.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        os.environ["STILE_BUNDLES"] = bundles.name
        cls.endpoints = sorted(
            path.parent.relative_to(bundles.name).as_posix() for path in Path(bundles.name).glob("*/*/bundle.*")
        )

    def test_each_endpoint_lists_its_tools_or_asks_for_a_credential(self) -> None:
        from handler.lambda_function import handler

        self.assertTrue(self.endpoints, "endpoints/ has no endpoint")
        for endpoint in self.endpoints:
            with self.subTest(endpoint):
                answer = handler(json.loads(EVENT.replace("shop/orders", endpoint)), CONTEXT)

                self.assertIn(answer["statusCode"], (200, 401), answer["body"])
                if answer["statusCode"] == 200:
                    self.assertTrue(json.loads(answer["body"])["result"]["tools"])


CONTEXT = types.SimpleNamespace(
    function_name="stile",
    memory_limit_in_mb=1024,
    invoked_function_arn="arn:aws:lambda:us-east-1:123456789012:function:stile",
    aws_request_id="00000000-0000-0000-0000-000000000000",
    get_remaining_time_in_millis=lambda: 29_000,
)


if __name__ == "__main__":
    unittest.main()

from __future__ import annotations

import pytest

from handler.errors.infrastructure import SettingsError
from handler.http.addresses import AddressRules
from handler.settings import SecretArn, Settings, read_settings


def test_only_the_place_of_the_bundles_is_required() -> None:
    assert read_settings({"STILE_BUNDLES": "s3://bucket/prefix"}) == Settings(bundles="s3://bucket/prefix")


def test_lists_are_separated_by_commas() -> None:
    settings = read_settings(
        {
            "STILE_BUNDLES": "folder",
            "STILE_PRELOAD": "api/customers, shop/orders,",
            "STILE_ALLOWED_ORIGINS": "https://a.example,https://b.example",
            "STILE_REFRESH_S": "0.5",
            "STILE_MAX_STALE_S": "2",
            "STILE_CACHE_MB": "64",
        }
    )

    assert settings.preload == ("api/customers", "shop/orders")
    assert settings.allowed_origins == {"https://a.example", "https://b.example"}
    assert (settings.refresh_s, settings.max_stale_s, settings.cache_mb) == (0.5, 2, 64)


def test_only_variables_that_are_called_secrets_can_be_referred_to() -> None:
    environ = {"STILE_SECRET_LOGIN": "s3cret", "AWS_SECRET_ACCESS_KEY": "aws", "STILE_BUNDLES": "folder"}
    settings = read_settings(environ)

    assert settings.secrets == {"LOGIN": "s3cret"}
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize("origin", ["*", "http://localhost:3000", "https://[::1]:8080", "chrome-extension://abc"])
def test_origins_are_as_browsers_write_them(origin: str) -> None:
    settings = read_settings({"STILE_BUNDLES": "folder", "STILE_ALLOWED_ORIGINS": origin})

    assert settings.allowed_origins == {origin}


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://mcp.example.com/", "https://mcp.example.com"),
        (" https://example.com/mcp/v1/ ", "https://example.com/mcp/v1"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("", ""),
    ],
)
def test_public_url_loses_its_last_slash(given: str, url: str) -> None:
    assert read_settings({"STILE_BUNDLES": "folder", "STILE_PUBLIC_URL": given}).public_url == url


def test_authors_may_name_any_host_but_those_of_this_machine_unless_the_owner_says_otherwise() -> None:
    given = {"STILE_UPSTREAM_HOSTS": "api.example.com, *.example.org"}

    assert read_settings({"STILE_BUNDLES": "folder"}).addresses == AddressRules()
    assert read_settings({"STILE_BUNDLES": "folder", "STILE_ALLOW_LOCAL_UPSTREAMS": "true", **given}).addresses == (
        AddressRules(local=True, hosts=("api.example.com", "*.example.org"))
    )


def test_log_key_is_in_no_message_and_no_representation() -> None:
    secret = "a-secret-of-more-than-32-characters"
    settings = read_settings({"STILE_BUNDLES": "folder", "STILE_LOG_KEY": secret, "STILE_LOG_SUBJECT": "plain"})

    assert (settings.log_key, settings.log_subject) == (secret, "plain")
    assert secret not in repr(settings)
    with pytest.raises(SettingsError) as caught:
        read_settings({"STILE_BUNDLES": "folder", "STILE_LOG_KEY": secret[:9]})
    assert secret[:9] not in str(caught.value)


ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:stile/COGNITO-AbC123"
OTHER = "arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:ENTRA-AbC123"
GOV = "arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:a/b/GOV_1-AbC123"


def settings_with(**environ: str) -> Settings:
    return read_settings({"STILE_BUNDLES": "folder", **environ})


def test_keys_and_secrets_may_be_arns() -> None:
    settings = settings_with(STILE_LOG_KEY=ARN, STILE_STATE_KEY=f" {OTHER}\n", STILE_SECRET_K=GOV, STILE_SECRET_L="l")

    assert settings.log_key == SecretArn(variable="STILE_LOG_KEY", arn=ARN, region="eu-west-1", name="stile/COGNITO")
    assert settings.state_keys == SecretArn(variable="STILE_STATE_KEY", arn=OTHER, region="cn-north-1", name="ENTRA")
    assert settings.secrets == {
        "K": SecretArn(variable="STILE_SECRET_K", arn=GOV, region="us-gov-west-1", name="a/b/GOV_1"),
        "L": "l",
    }


def test_listed_secrets_have_the_last_part_of_their_names() -> None:
    settings = settings_with(
        STILE_SECRET_ARNS=f"{ARN}, {OTHER},{GOV},{ARN},", STILE_SECRET_L="l", STILE_SECRET_ENTRA=""
    )

    assert {name: isinstance(each, SecretArn) for name, each in settings.secrets.items()} == {
        "COGNITO": True,
        "ENTRA": True,
        "GOV_1": True,
        "L": False,
    }


A_SECRET = "arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME-SUFFIX, the whole ARN of a secret"


@pytest.mark.parametrize("variable", ["STILE_LOG_KEY", "STILE_STATE_KEY", "STILE_SECRET_K"])
@pytest.mark.parametrize(
    "text",
    [
        ARN.removesuffix("-AbC123"),
        f"{ARN},{OTHER}",
        f"{'k' * 32},{ARN}",
        f'"{ARN}"',
        ARN.upper(),
        ARN.replace("secretsmanager", "ssm"),
        ARN.replace("eu-west-1", "cn-north-1"),
        ARN.replace("aws", "aws-other", 1),
        ARN.replace("COGNITO", "*"),
        f"{ARN}:key::",
        f"{ARN} {ARN}",
        "arn:aws:iam::123456789012:role/any-role-of-the-account",
    ],
)
def test_malformed_arn_is_never_taken_for_a_secret(variable: str, text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_with(**{variable: text})

    assert (caught.value.name, caught.value.value) == (variable, "…")
    assert caught.value.expected == f"a secret, or {A_SECRET}"


@pytest.mark.parametrize(
    ("environ", "shown", "expected"),
    [
        ({"STILE_SECRET_ARNS": "a-secret-itself"}, "…", f"{A_SECRET}, several separated by commas"),
        ({"STILE_SECRET_ARNS": f"{ARN},{ARN[:-7]}"}, ARN[:-7], f"{A_SECRET}, several separated by commas"),
        (
            {"STILE_SECRET_ARNS": ARN.replace("COGNITO", "log-key")},
            ARN.replace("COGNITO", "log-key"),
            "a secret whose name ends in the NAME of env:NAME, as stile/NAME: letters, digits and _",
        ),
        (
            {"STILE_SECRET_ARNS": ARN.replace("COGNITO", "ARNS")},
            ARN.replace("COGNITO", "ARNS"),
            "a secret whose name ends in the NAME of env:NAME, as stile/NAME: letters, digits and _",
        ),
        (
            {"STILE_SECRET_ARNS": f"{ARN},{ARN.replace('stile', 'prod')}"},
            ARN.replace("stile", "prod"),
            f"one secret for env:COGNITO, not {ARN} too",
        ),
        (
            {"STILE_SECRET_ARNS": ARN, "STILE_SECRET_COGNITO": "a-secret-itself"},
            ARN,
            "env:COGNITO here or as STILE_SECRET_COGNITO, not both",
        ),
    ],
)
def test_list_of_arns_that_does_not_fit_says_which(environ: dict[str, str], shown: str, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_with(**environ)

    assert (caught.value.name, caught.value.value, caught.value.expected) == ("STILE_SECRET_ARNS", shown, expected)
    assert "a-secret-itself" not in str(caught.value)


ORIGINS = "origins such as https://app.example.com, several separated by commas, or *"
ENV_SECRETS = "folder/name/NAME, several separated by commas, without the STILE_SECRET_ of NAME"
HOSTS = "names of hosts such as api.example.com or *.example.com, several separated by commas"
URL = "a URL such as https://mcp.example.com, with an ASCII host and without a query or fragment"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("STILE_BUNDLES", "", "a folder, or s3://bucket/prefix"),
        ("STILE_BUNDLES", "  ", "a folder, or s3://bucket/prefix"),
        ("STILE_PRELOAD", "customers", "folder/name, several separated by commas"),
        ("STILE_PRELOAD", "api/../x", "folder/name, several separated by commas"),
        ("STILE_REFRESH_S", "soon", "seconds, from 0 to 86400"),
        ("STILE_REFRESH_S", "-1", "seconds, from 0 to 86400"),
        ("STILE_MAX_STALE_S", "soon", "seconds, from 0 to 86400"),
        ("STILE_CACHE_MB", "0", "megabytes, a whole number from 1 to 99999"),
        ("STILE_CACHE_MB", "1.5", "megabytes, a whole number from 1 to 99999"),
        ("STILE_CACHE_MB", "100000", "megabytes, a whole number from 1 to 99999"),
        ("STILE_REFRESH_S", "nan", "seconds, from 0 to 86400"),
        ("STILE_REFRESH_S", "86401", "seconds, from 0 to 86400"),
        ("STILE_ALLOWED_ORIGINS", "app.example.com", ORIGINS),
        ("STILE_ALLOWED_ORIGINS", "https://app.example.com/", ORIGINS),
        ("STILE_ALLOWED_ORIGINS", "https://a.example,https://b.example/x", ORIGINS),
        ("STILE_ALLOWED_ORIGINS", "https://*.example", ORIGINS),
        ("STILE_PUBLIC_URL", "mcp.example.com", URL),
        ("STILE_PUBLIC_URL", "https://", URL),
        ("STILE_PUBLIC_URL", "https://mcp.example.com?a=b", URL),
        ("STILE_PUBLIC_URL", "https://mcp.example.com/#a", URL),
        ("STILE_PUBLIC_URL", 'https://mcp.example.com/"', URL),
        ("STILE_PUBLIC_URL", "https://user@mcp.example.com", URL),
        ("STILE_PUBLIC_URL", "https://mcp.example.com:99999", URL),
        ("STILE_PUBLIC_URL", "https://mcp.example.com:0", URL),
        ("STILE_PUBLIC_URL", "https://[::1", URL),
        ("STILE_PUBLIC_URL", "https://[1:2]", URL),
        ("STILE_PUBLIC_URL", "https://*.example.com", URL),
        ("STILE_PUBLIC_URL", "https://münchen.example", URL),
        ("STILE_PUBLIC_URL", "https://mcp.example.com/a\u2028b", URL),
        ("STILE_LOG_KEY", "short", "32 characters or more"),
        ("STILE_LOG_SUBJECT", "none", "hashed or plain"),
        ("STILE_UPSTREAM_HOSTS", "https://api.example.com", HOSTS),
        ("STILE_UPSTREAM_HOSTS", "api.example.com,*", HOSTS),
        ("STILE_UPSTREAM_HOSTS", "api.*.com", HOSTS),
        ("STILE_ALLOW_LOCAL_UPSTREAMS", "yes", "false or true"),
        ("STILE_ENV_SECRETS", "K", ENV_SECRETS),
        ("STILE_ENV_SECRETS", "api/K", ENV_SECRETS),
        ("STILE_ENV_SECRETS", "api/things/a-b", ENV_SECRETS),
        ("STILE_ENV_SECRETS", "*/things/K", ENV_SECRETS),
    ],
)
def test_value_that_does_not_fit_names_its_variable(name: str, value: str, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"STILE_BUNDLES": "folder", name: value})

    assert (caught.value.name, caught.value.expected) == (name, expected)
    assert str(caught.value).startswith(f"{name}=")

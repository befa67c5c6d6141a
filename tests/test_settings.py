from __future__ import annotations

import pytest

from handler.errors import SettingsError
from handler.settings import Settings, read_settings


def test_only_the_place_of_the_bundles_is_required() -> None:
    assert read_settings({"STILE_BUNDLES": "s3://bucket/prefix"}) == Settings(bundles="s3://bucket/prefix")


def test_lists_are_separated_by_commas() -> None:
    settings = read_settings(
        {
            "STILE_BUNDLES": "folder",
            "STILE_PRELOAD": "api/customers, shop/orders,",
            "STILE_ALLOWED_ORIGINS": "https://a.example,https://b.example",
            "STILE_REFRESH_S": "0.5",
        }
    )

    assert settings.preload == ("api/customers", "shop/orders")
    assert settings.allowed_origins == {"https://a.example", "https://b.example"}
    assert settings.refresh_s == 0.5


def test_only_variables_that_are_called_secrets_can_be_referred_to() -> None:
    environ = {"STILE_SECRET_LOGIN": "s3cret", "AWS_SECRET_ACCESS_KEY": "aws", "STILE_BUNDLES": "folder"}
    settings = read_settings(environ)

    assert settings.secrets == {"LOGIN": "s3cret"}
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("STILE_BUNDLES", "", "a folder, or s3://bucket/prefix"),
        ("STILE_BUNDLES", "  ", "a folder, or s3://bucket/prefix"),
        ("STILE_PRELOAD", "customers", "folder/name, several separated by commas"),
        ("STILE_PRELOAD", "api/../x", "folder/name, several separated by commas"),
        ("STILE_REFRESH_S", "soon", "seconds, from 0 to 86400"),
        ("STILE_REFRESH_S", "-1", "seconds, from 0 to 86400"),
        ("STILE_REFRESH_S", "nan", "seconds, from 0 to 86400"),
        ("STILE_REFRESH_S", "86401", "seconds, from 0 to 86400"),
    ],
)
def test_value_that_does_not_fit_names_its_variable(name: str, value: str, expected: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"STILE_BUNDLES": "folder", name: value})

    assert (caught.value.name, caught.value.expected) == (name, expected)
    assert str(caught.value).startswith(f"{name}=")

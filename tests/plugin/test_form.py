"""Forms are read as Stripe reads them."""

from __future__ import annotations

import pytest

from pytest_stripe_idem.core.form import canonical, decode_form, decode_multipart, flatten


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("amount=4900&currency=usd", {"amount": "4900", "currency": "usd"}),
        ("metadata[order]=7", {"metadata": {"order": "7"}}),
        ("expand[0]=a&expand[1]=b", {"expand": ["a", "b"]}),
        ("expand[]=a&expand[]=b", {"expand": ["a", "b"]}),
        (
            "items[0][price]=p&items[0][quantity]=2&items[1][price]=q",
            {"items": [{"price": "p", "quantity": "2"}, {"price": "q"}]},
        ),
        (
            "items[][price]=p&items[][quantity]=2&items[][price]=q",
            {"items": [{"price": "p", "quantity": "2"}, {"price": "q"}]},
        ),
        ("description=", {"description": ""}),
        ("metadata[a%5Db]=1", {"metadata": {"a": "1"}}),
        ("name=M%C3%BCller+%26+S%C3%B6hne", {"name": "Müller & Söhne"}),
    ],
)
def test_nested_names_become_hashes_and_arrays(text: str, wanted: object) -> None:
    assert decode_form(text) == wanted


def test_equal_parameters_are_equal_in_any_order() -> None:
    one = decode_form("amount=1&metadata[b]=2&metadata[a]=1&expand[]=x")
    other = decode_form("expand[0]=x&metadata[a]=1&metadata[b]=2&amount=1")
    assert canonical(one) == canonical(other)


def test_the_order_of_an_array_counts() -> None:
    assert canonical(decode_form("x[]=1&x[]=2")) != canonical(decode_form("x[]=2&x[]=1"))


def test_names_are_written_as_a_person_writes_them() -> None:
    params = {"a": {"b": [{"c": 1}]}, "d": 2}
    assert list(flatten(params)) == [("a[b][0][c]", 1), ("d", 2)]


def test_an_upload_is_fields_and_files() -> None:
    body = (
        b'--B\r\nContent-Disposition: form-data; name="purpose"\r\n\r\ndispute_evidence\r\n'
        b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n12345\r\n'
        b"--B--\r\n"
    )
    found = decode_multipart(body, "multipart/form-data; boundary=B")
    assert found == {"purpose": "dispute_evidence", "file": {"filename": "a.png", "size": 5}}

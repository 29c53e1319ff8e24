import pytest

from protocol.codes import Code
from server.accounts import Accounts, Refused


def test_a_token_opens_its_own_name_only() -> None:
    accounts = Accounts(anyone=False)
    anna, bert = accounts.issue("anna"), accounts.issue("bert")
    accounts.check("anna", anna)
    for name, token in (("anna", bert), ("anna", ""), ("carl", anna), ("carl", "")):
        with pytest.raises(Refused) as refused:
            accounts.check(name, token)
        assert refused.value.code is Code.BAD_TOKEN


def test_a_new_token_takes_the_old_ones_place() -> None:
    accounts = Accounts(anyone=False)
    old, new = accounts.issue("anna"), accounts.issue("anna")
    accounts.check("anna", new)
    with pytest.raises(Refused):
        accounts.check("anna", old)


def test_where_anyone_may_come_a_name_with_a_token_still_needs_it() -> None:
    accounts = Accounts(anyone=True)
    accounts.check("carl", "")
    token = accounts.issue("anna")
    accounts.check("anna", token)
    with pytest.raises(Refused, match="not the token"):
        accounts.check("anna", "")
    with pytest.raises(Refused, match="leave the token empty"):
        accounts.check("carl", "something")


def test_the_token_itself_is_not_kept() -> None:
    accounts = Accounts(anyone=False)
    assert accounts.issue("anna") not in repr(vars(accounts))

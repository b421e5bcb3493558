"""No fuzz test may reach the network."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Fail whatever asks for an address or a connection."""

    def refused(*arguments, **_):
        pytest.fail(f"the network was asked for {arguments[-1]!r}")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

"""Certificates for tests of TLS."""

from __future__ import annotations

import subprocess
from ipaddress import ip_address
from pathlib import Path


def make_certificate(folder: Path, name: str, file: str = "cert") -> tuple[Path, Path]:
    """Make a certificate of a host or an address that certifies itself. Return its file and that of its key."""
    certificate, key = folder / f"{file}.pem", folder / f"{file}.key"
    try:
        alternative = f"IP:{ip_address(name)}"
    except ValueError:
        alternative = f"DNS:{name}"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    words += ["-subj", f"/CN={name}", "-addext", f"subjectAltName={alternative}"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*words, *files], check=True, capture_output=True)
    return certificate, key

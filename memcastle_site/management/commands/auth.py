"""`auth`: the access token that the daemon generates."""

from __future__ import annotations

import argparse

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.parser import subcommands
from memcastle_site.console.prompts import confirm


class Command(ConsoleCommand):
    help = "Generate or revoke the daemon's access token."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = subcommands(parser)
        generate_parser = add("generate", "make a token, shown this once; one made before stops working", generate)
        generate_parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
        revoke_parser = add("revoke", "forget the generated token; a configured one stays valid", revoke)
        revoke_parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def generate(call: Call) -> None:
    """Prints the token alone on stdout, whatever stdout is, so that a script can catch it."""
    confirm(call.screen, lambda: "Make a new token? One made before stops working at once.", yes=call.args.yes)
    answer = call.client.post(route("auth", "token"))
    call.screen.write(answer["token"])
    call.screen.note(
        "This token is shown once; the daemon keeps only its digest. Clients send it as 'Authorization: Bearer TOKEN', "
        "commands take it from MEMCASTLE_AUTH_TOKEN. Turn checking on with auth.enabled = true and restart the daemon."
    )


def revoke(call: Call) -> None:
    question = "Revoke the generated token? Whoever uses it is refused at once."
    confirm(call.screen, lambda: question, yes=call.args.yes)
    answer = call.client.delete(route("auth", "token"))
    sentence = "The generated token is revoked." if answer["revoked"] else "There was no generated token."
    call.screen.show(answer, lambda console: console.print(sentence))

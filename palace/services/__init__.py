"""The one seam of the palace: every door calls one function here, which checks the mode, validates, acts, announces."""

from palace.services.drawers import create_drawer, delete_drawer, list_drawers, remove_orphan, show_drawer
from palace.services.filing import Filing, file_documents
from palace.services.hierarchy import (
    create_room,
    create_wing,
    delete_room,
    delete_wing,
    list_rooms,
    list_wings,
    show_room,
    show_wing,
)
from palace.services.items import Item, file_item
from palace.services.supersession import History, Supersession, history, supersede

__all__ = [
    "Filing",
    "History",
    "Item",
    "Supersession",
    "create_drawer",
    "create_room",
    "create_wing",
    "delete_drawer",
    "delete_room",
    "delete_wing",
    "file_documents",
    "file_item",
    "history",
    "list_drawers",
    "list_rooms",
    "list_wings",
    "remove_orphan",
    "show_drawer",
    "show_room",
    "show_wing",
    "supersede",
]

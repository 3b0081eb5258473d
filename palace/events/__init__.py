"""What changed in the palace, whoever changed it: the tailer of the outbox and the bus that spreads its frames."""

from palace.events.bus import RESYNC, Bus, Frame, Subscription
from palace.events.tailer import ChangeTailer, Health, current, install, installed

__all__ = ["RESYNC", "Bus", "ChangeTailer", "Frame", "Health", "Subscription", "current", "install", "installed"]

"""Doors: the streaming protocol, the websocket, REST. The only place that knows fastapi."""

"""The streaming example of Chainlit's documentation (AsyncOpenAI, `stream_token`), which `relay_peer.py` serves.

Run by `chainlit run`; OPENAI_BASE_URL and OPENAI_API_KEY say where the model is, RELAY_MODEL its name. Nothing is stored: there
is no data layer.
"""

from __future__ import annotations

import os

import chainlit as cl
from openai import AsyncOpenAI

client = AsyncOpenAI()
SETTINGS = {"model": os.environ["RELAY_MODEL"], "temperature": 0.7, "max_tokens": 2048}


@cl.on_chat_start
def begin() -> None:
    cl.user_session.set("history", [{"role": "system", "content": "You are a helpful assistant."}])


@cl.on_message
async def answer(message: cl.Message) -> None:
    history = cl.user_session.get("history")
    history.append({"role": "user", "content": message.content})
    reply = cl.Message(content="")
    async for part in await client.chat.completions.create(messages=history, stream=True, **SETTINGS):
        if part.choices and (token := part.choices[0].delta.content):
            await reply.stream_token(token)
    history.append({"role": "assistant", "content": reply.content})
    await reply.update()

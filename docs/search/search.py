"""A search for the assistant over three pages: `uvicorn search:app --port 9300`. The ranking is a toy, the rest is not."""

import hashlib
import os

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

KEY = OctKey.import_key(os.environ["SEARCH_SECRET"])
TOKEN = jwt.JWTClaimsRegistry(
    iss={"essential": True, "value": "assistant"}, aud={"essential": True, "value": "wiki"}, exp={"essential": True}
)
PAGES = [  # id, version, groups that may read, title, date, text; a new text gets a new version
    ("holidays", 3, ["everyone"], "Holidays", "2026-01-05", "Everybody has 31 days of holiday in a year."),
    ("parking", 1, ["everyone"], "Parking", "2025-06-30", "The garage closes at 22:00. Visitors park in the yard."),
    ("salaries", 7, ["staff"], "Salary bands", "2026-03-01", "Band 4 begins at 61,000 euros in a year."),
]

app = FastAPI(openapi_url=None)


@app.post("/search")
async def search(request: Request) -> Response:
    """The pages that share most words with the question, among those that the person may read."""
    body = await request.body()
    try:
        token = jwt.decode(request.headers.get("authorization", "").removeprefix("Bearer "), KEY, ["HS256"])
        TOKEN.validate(token.claims)
    except (JoseError, ValueError):
        return JSONResponse({"error": "not_authenticated"}, 401)
    if token.claims.get("sha256") != hashlib.sha256(body).hexdigest():  # a token is good for one question
        return JSONResponse({"error": "not_authenticated"}, 401)
    asked, groups = await request.json(), set(token.claims["groups"])  # only now, and only of what was signed
    words = {word.strip("?.,").lower() for text in asked["searches"] for word in text.split()}
    readable = [page for page in PAGES if groups & set(page[2])]  # rights first, then the ranking
    hits = {
        page[0]: len(words & {word.strip("?.,").lower() for word in f"{page[3]} {page[5]}".split()})
        for page in readable
    }
    best = sorted((page for page in readable if hits[page[0]]), key=lambda page: -hits[page[0]])[: asked["limit"]]
    return JSONResponse({"v": 1, "passages": [passage(*page) for page in best]})


def passage(document: str, version: int, access: list[str], title: str, date: str, text: str) -> dict[str, object]:
    """A page as the contract has it."""
    where = {"document": document, "version": version, "uri": f"https://wiki.example/{document}", "title": title}
    return where | {"text": text, "section": "", "date": date, "authority": "high", "access": access}

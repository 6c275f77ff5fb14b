"""The contracts of the server as documents that are made from its code: OpenAPI, AsyncAPI, and the types of the page."""

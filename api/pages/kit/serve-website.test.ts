import express from "express";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assignRequestId } from "#api/http/request.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { DatabaseUnavailable } from "#projections/log/database-failure.ts";
import { refusal } from "./document.ts";
import { html } from "./html.ts";
import { type PageInput, pageInputOf, readOwnForm } from "./page-input.ts";
import { answerFaults, sendHtml } from "./serve-website.ts";

const logged: string[] = [];
const logger = pino({ level: "warn" }, { write: (line: string) => void logged.push(line) });
let seen: PageInput | undefined;
let listening: Listening;

beforeAll(async () => {
  const app = express();
  app.set("query parser", "extended");
  app.use((request, response, next) => {
    assignRequestId(request, response);
    next();
  });
  app.get("/faults/:kind", (request) => {
    const { kind } = request.params;
    throw kind === "database"
      ? new DatabaseUnavailable("refused")
      : Object.assign(new Error("a secret of the cause"), { status: 500 });
  });
  const see = express.Router();
  see.use((request, response) => {
    seen = pageInputOf(request);
    response.end();
  });
  app.post(
    "/own",
    readOwnForm(null, (_request, response) => void response.status(403).end()),
    see,
  );
  app.get("/texts/:name", (request, response) => {
    seen = pageInputOf(request);
    response.end();
  });
  app.use(
    answerFaults(logger, (_request, response, { status, title, why }) =>
      sendHtml(response, refusal(title, why, html``), status),
    ),
  );
  listening = await listen(app, "127.0.0.1", 0);
});
afterAll(() => listening?.close());

const address = (path: string) => `http://127.0.0.1:${listening.port}${path}`;

describe("a request for a page", () => {
  it("is read as single texts, and no more", async () => {
    await fetch(address("/texts/punks?q=a&sort[]=b&traits[Hat]=Red&traits[Eyes]=x&traits[Eyes]=y"));
    expect([seen?.key("name"), seen?.key("q"), seen?.parameter("q")]).toEqual(["punks", "", "a"]);
    for (const name of ["sort", "traits", "nothing", "__proto__", "constructor"])
      expect([name, seen?.parameter(name), seen?.field(name)]).toEqual([name, "", ""]);
    expect(seen?.entries("traits")).toEqual([
      ["Hat", "Red"],
      ["Eyes", "x"],
      ["Eyes", "y"],
    ]);
    expect(seen?.entries("q")).toEqual([]);
  });
});

describe("a form", () => {
  const send = (body: string, headers: Record<string, string>) =>
    fetch(address("/own"), {
      method: "POST",
      body: new URLSearchParams(body),
      headers,
    });

  it("of our own page is read", async () => {
    const { origin } = new URL(address("/"));
    expect((await send("name=a&name=b&by=Ada", { origin })).status).toBe(200);
    expect([seen?.field("name"), seen?.field("by"), seen?.fields.size]).toEqual(["", "Ada", 1]);
  });

  it.each([
    ["no origin", {}],
    ["another origin", { origin: "https://elsewhere.example" }],
    ["an origin that is none", { origin: "null" }],
    ["another site by its own word", { "sec-fetch-site": "cross-site" }],
  ])("with %s is refused before it is read", async (_what, headers) => {
    const large = `name=${"a".repeat(20_000)}`;
    expect((await send(large, headers as Record<string, string>)).status).toBe(403);
  });

  it("that is too large is answered with a page", async () => {
    const { origin } = new URL(address("/"));
    const answer = await send(`name=${"a".repeat(20_000)}`, { origin });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      413,
      "text/html; charset=utf-8",
    ]);
    expect(await answer.text()).toContain("too large or malformed");
  });
});

describe("a fault", () => {
  it("is in the log with its cause, and on the page with the request's id only", async () => {
    logged.length = 0;
    const answer = await fetch(address("/faults/other"));
    const page = await answer.text();
    const [line = "{}"] = logged;
    const { msg, requestId } = JSON.parse(line) as { msg: string; requestId: string };
    expect([answer.status, msg]).toEqual([500, "request failed"]);
    expect(line).toContain("a secret of the cause");
    expect(page).toContain(requestId);
    expect(page).not.toContain("secret");
  });

  it("of the database is a page that asks for patience", async () => {
    const answer = await fetch(address("/faults/database"));
    expect([answer.status, Number(answer.headers.get("retry-after"))]).toEqual([503, 2]);
    expect(await answer.text()).toContain("Reload the page");
  });
});

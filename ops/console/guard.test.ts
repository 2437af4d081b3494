import express from "express";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Listening, listen } from "#api/http/server.ts";
import { guard } from "./guard.ts";

const password = "a password of tests";
let now = new Date("2026-03-10T12:00:00.000Z");
let listening: Listening;

beforeAll(async () => {
  const app = express();
  app.set("trust proxy", true);
  app.use(guard({ password, now: () => now }), (_request, response) => void response.end());
  listening = await listen(app, "127.0.0.1", 0);
});
afterAll(() => listening?.close());

async function ask(address: string, given: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(`Ada:${given}`).toString("base64")}`;
  const headers = { authorization, "x-forwarded-for": address };
  return (await fetch(`http://127.0.0.1:${listening.port}/`, { headers })).status;
}

it("wrong passwords refuse the address that they come from, until the minute ends, and no other", async () => {
  for (let time = 0; time < 20; time += 1) expect(await ask("192.0.2.1", "wrong")).toBe(401);
  expect(await ask("192.0.2.1", "wrong")).toBe(429);
  expect(await ask("192.0.2.1", password)).toBe(429);
  expect(await ask("192.0.2.2", "wrong")).toBe(401);
  expect(await ask("192.0.2.2", password)).toBe(200);
  now = new Date(now.getTime() + 60_000);
  expect(await ask("192.0.2.1", password)).toBe(200);
});

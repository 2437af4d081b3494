import express from "express";
import { Gauge, Registry } from "prom-client";
import { expect, it } from "vitest";
import { servePath } from "../http/mount.ts";
import { answerMetrics } from "./operator-app.ts";

async function collectionsOf(keptMs: number, requests: number): Promise<number> {
  const metrics = new Registry();
  let collections = 0;
  new Gauge({
    name: "asked",
    help: "Of the database.",
    registers: [metrics],
    collect() {
      collections += 1;
      this.set(collections);
    },
  });
  const app = express();
  servePath(app, "/metrics", { get: [answerMetrics(metrics, keptMs)] });
  const server = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const url = `http://127.0.0.1:${address.port}/metrics`;
  for (let one = 0; one < requests; one += 1)
    expect(await (await fetch(url)).text()).toContain("asked ");
  await new Promise((resolve) => server.close(resolve));
  return collections;
}

it("collects metrics on callers' port once for as long as they are kept, however many ask", async () => {
  expect(await collectionsOf(600_000, 20)).toBe(1);
});

it("collects metrics on a port of their own for each who asks", async () => {
  expect(await collectionsOf(0, 3)).toBe(3);
});

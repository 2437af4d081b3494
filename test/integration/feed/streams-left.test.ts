import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CallerStreams, openCallerStreams } from "#api/accounts/caller-streams.ts";
import { countStreamOrRefuse } from "#api/feed/answer-feed.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

const caller = { accountId: null, address: "192.0.2.1", credential: null };
const most = 2;

let database: TestDatabase;
let streams: CallerStreams;
beforeAll(async () => {
  database = await createDatabase();
  const limits = { account: most, address: most };
  streams = openCallerStreams({ db: database.db, logger: pino({ level: "silent" }), limits });
});
afterAll(async () => {
  await streams?.stop();
  await database?.drop();
});

it("a stream whose client left while its request was checked is not counted", async () => {
  const app = express();
  let left = 0;
  app.get("/left", async (_request, response) => {
    // As the limiter and the database take their time.
    await once(response, "close");
    await new Promise(setImmediate);
    expect(countStreamOrRefuse(streams, caller, response)).toBe(false);
    left += 1;
  });
  app.get("/stays", (_request, response) => {
    if (countStreamOrRefuse(streams, caller, response)) response.status(200).flushHeaders();
  });
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    for (let request = 0; request < 2 * most; request += 1) {
      const leaving = get(`${url}/left`).on("error", () => {});
      await once(server, "request");
      leaving.destroy();
      await expect.poll(() => left).toBe(request + 1);
    }
    expect(streams.figures()).toMatchObject({ open: 0, refused: 0 });
    const stays = get(`${url}/stays`);
    const [response] = await once(stays, "response");
    expect(response.statusCode).toBe(200);
    expect(streams.figures().open).toBe(1);
    stays.destroy();
    await expect.poll(() => streams.figures().open).toBe(0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hashKey } from "#api/keys/key-text.ts";
import { createPermanentKey, revokeKey } from "#api/keys/stored-keys.ts";
import { pipelineSettings, spawnRole, until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { anything, from, newAddress } from "#test/support/http/limited-api.ts";

type Api = { url: string; child: ChildProcess; settings: Record<string, string> };

let database: TestDatabase;
let apis: Api[] = [];

beforeAll(async () => {
  database = await createDatabase();
  apis = await Promise.all([startApi(), startApi()]);
});
afterAll(async () => {
  await Promise.all(apis.map((api) => end(api, "SIGTERM")));
  await database?.drop();
});

async function startApi(): Promise<Api> {
  const settings = await pipelineSettings({
    databaseUrl: database.url,
    chains: [{ chainId: 33139, rpcUrl: "http://127.0.0.1:1" }],
    settings: { RATE_LIMIT_KEYLESS: "30", TRUST_PROXY: "127.0.0.0/8", LOG_LEVEL: "error" },
  });
  return run(settings);
}

async function run(settings: Record<string, string>): Promise<Api> {
  const child = spawnRole("api", settings);
  const url = `http://127.0.0.1:${settings.PORT}`;
  await until("the API", () =>
    fetch(`${url}/healthz`).then(
      (response) => response.ok,
      () => false,
    ),
  );
  return { url, child, settings };
}

async function end({ child }: Api, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

async function ask(api: Api | undefined, headers: Record<string, string>) {
  const response = await fetch(`${api?.url}${anything}`, { headers });
  await response.arrayBuffer();
  return [response.status, response.headers.get("x-ratelimit-remaining")];
}

it("two API processes share limits, hear of a revoked key at once, and forget nothing when they die", async () => {
  const [one, other] = apis;
  const v4 = from(newAddress());
  const v6 = from("2001:db8:5:5::1");
  const { key } = await createPermanentKey(database.db, { name: "a", perMinute: null });
  const keyed = from(newAddress(), key);

  for (const caller of [v4, v6]) {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, time) => ask(time % 2 ? one : other, caller)),
    );
    expect(answers.filter(([status]) => status === 422)).toHaveLength(30);
  }
  expect([await ask(one, keyed), await ask(other, keyed)]).toEqual([
    [422, "119"],
    [422, "118"],
  ]);

  await Promise.all(apis.map((api) => end(api, "SIGKILL")));
  apis = await Promise.all(apis.map(({ settings }) => run(settings)));

  const [reborn, second] = apis;
  expect(await ask(reborn, keyed)).toEqual([422, "117"]);
  await revokeKey(database.db, { hash: hashKey(key) });
  expect(
    (await Promise.all([ask(reborn, keyed), ask(second, keyed)])).map(([code]) => code),
  ).toEqual([401, 401]);
});

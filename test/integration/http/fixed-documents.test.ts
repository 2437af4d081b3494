import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import compression from "compression";
import express from "express";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skipPrepared } from "#api/http/answer.ts";
import { type Listening, listen } from "#api/http/server.ts";
import { describedApis, mountReferences } from "#api/pages/reference/mount-reference.ts";
import { describeV1, routes } from "#api/routes.ts";

let listening: Listening;

beforeAll(async () => {
  const app = express();
  app.use(compression({ filter: skipPrepared }));
  const baseUrl = "https://api.example.test";
  mountReferences(app, describedApis(describeV1(baseUrl, routes), undefined, baseUrl), undefined);
  listening = await listen(app, "127.0.0.1", 0);
});
afterAll(() => listening?.close());

const bundle = "/docs/operations/listSales";

/** `fetch` would unpack the body. */
function ask(path: string, encodings: string | undefined) {
  const headers = encodings === undefined ? {} : { "accept-encoding": encodings };
  return new Promise<{ encoding: string; length: number; varies: string; body: Buffer }>(
    (resolve, reject) => {
      const { port } = listening;
      request({ host: "127.0.0.1", port, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const encoding = response.headers["content-encoding"] ?? "identity";
          const length = Number(response.headers["content-length"]);
          const varies = response.headers.vary ?? "";
          resolve({ encoding, length, varies, body: Buffer.concat(chunks) });
        });
      })
        .on("error", reject)
        .end();
    },
  );
}

const unpack = { gzip: gunzipSync, br: brotliDecompressSync, identity: (body: Buffer) => body };

// A body that is compressed while it is sent has no Content-Length.
describe("a document that never changes is sent prepared", () => {
  it.each([
    ["br, gzip, deflate", "br"],
    ["gzip, deflate, br, zstd", "br"],
    ["br;q=0, gzip", "gzip"],
    ["gzip", "gzip"],
    ["deflate", "identity"],
    ["identity, deflate", "identity"],
    ["gzip;q=0, deflate;q=1", "identity"],
    [undefined, "identity"],
  ] as const)("to a caller that accepts %s", async (accepted, expected) => {
    const whole = await ask(bundle, "identity");
    expect(whole.varies).toContain("Accept-Encoding");
    for (let time = 0; time < 3; time += 1) {
      const { encoding, length, body } = await ask(bundle, accepted);
      expect([encoding, length]).toEqual([expected, body.byteLength]);
      expect(unpack[expected](body).equals(whole.body)).toBe(true);
    }
  });

  it("is compressed once for many that ask at the same time", async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => ask(bundle, "gzip")));
    const distinct = new Set(
      answers.map(({ length, body }) => `${length} ${body.toString("hex")}`),
    );
    expect(distinct.size).toBe(1);
  });
});

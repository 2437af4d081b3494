import { pino } from "pino";
import { expect, it } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { printReady } from "./print-ready.ts";

const settings = {
  RPC_URL_1: "https://rpc.example.com/secret-key",
  DATABASE_URL: "postgres://user:password@db.example.com:5432/orders",
  FEE_RECIPIENT: "0x00000000000000000000000000000000000fee01",
  BASE_URL: "https://api.example.com",
};

function printed(format: "pretty" | "json") {
  const output: string[] = [];
  const logger = pino({ base: null }, { write: (line) => void output.push(line) });
  const config = readConfig({ ...settings, LOG_FORMAT: format });
  printReady({ config, roles: ["api"], logger }, undefined, (text) => void output.push(text));
  return output;
}

it("tells people what runs, where to look and what to try, without keys and passwords", () => {
  const [line, screen = ""] = printed("pretty");
  expect(line).toBe("ready https://api.example.com\n");
  expect(screen).toMatch(/Ethereum \(1\) +https:\/\/rpc\.example\.com\/\*\*\*\n/);
  expect(screen).toMatch(/database +postgres:\/\/\*\*\*@db\.example\.com/);
  expect(screen).toContain("    curl 'https://api.example.com/v1/sales?chainId=1&per_page=3'\n");
  expect(screen).not.toMatch(/secret-key|password|simulated/);
  expect(screen.trimEnd().split("\n").at(-1)).toContain("https://api.example.com/?chainId=1");
  expect(screen.match(/api\.example\.com\/\?chainId=1/g)).toHaveLength(1);
});

it("tells programs the same in the fields of one log line", () => {
  const [line, logged = ""] = printed("json");
  expect(line).toBe("ready https://api.example.com\n");
  expect(JSON.parse(logged)).toMatchObject({
    msg: "service ready",
    baseUrl: "https://api.example.com",
    runs: { database: "postgres://***@db.example.com:5432/orders" },
    pages: {
      market: "https://api.example.com/?chainId=1",
      "API reference": "https://api.example.com/docs",
    },
    commands: expect.arrayContaining([
      "curl 'https://api.example.com/v1/bids?chainId=1&sort=price_desc&per_page=3'",
    ]),
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigurationError, readConfig } from "./read-config.ts";
import { renderDocument, renderExample, renderInEffect } from "./render.ts";

const feeRecipient = "0x00000000000000000000000000000000000fee01";
const chainsOf = (variables: Record<string, string>) => readConfig(variables).chains;

function problemsOf(variables: Record<string, string>): string[] {
  try {
    readConfig(variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe("the configuration", () => {
  it("needs nothing on one machine: embedded database, two local chains", () => {
    const config = readConfig({});

    expect(config.localChains).toBe(true);
    expect(config.database.url).toBeNull();
    expect(config.chains.map(({ chainId }) => chainId)).toEqual([1, 33139]);
    expect(config.http.baseUrl).toBe("http://127.0.0.1:4000");
  });

  it("serves only the chains whose RPC is named, and then makes no local ones", () => {
    const config = readConfig({
      RPC_URL_33139: "https://one.example/key, https://two.example/key",
      FEE_RECIPIENT: feeRecipient,
    });

    expect(config.localChains).toBe(false);
    expect(config.chains).toHaveLength(1);
    expect(config.chains[0]).toMatchObject({
      chainId: 33139,
      rpcUrls: ["https://one.example/key", "https://two.example/key"],
      collections: "all",
    });
  });

  it("fetches prices from the public exchanges, or only from those named, or from none", () => {
    const feedsOf = (urls: string) => readConfig({ PRICE_FEED_URLS: urls }).prices.feeds;

    expect(readConfig({}).prices.feeds.map(({ name }) => name)).toEqual([
      "coinbase",
      "kraken",
      "binance",
      "okx",
    ]);
    expect(feedsOf("kraken=https://one.example, okx=https://two.example/")).toEqual([
      { name: "kraken", url: "https://one.example" },
      { name: "okx", url: "https://two.example" },
    ]);
    expect(feedsOf("none")).toEqual([]);
    for (const urls of [
      "https://one.example",
      "kraken=https://a.example,kraken=https://b.example",
    ]) {
      expect(problemsOf({ PRICE_FEED_URLS: urls })).toEqual([
        expect.stringContaining("PRICE_FEED_URLS: expected exchanges as name=url"),
      ]);
    }
  });

  it("trusts no proxy, a number of proxies, or those of networks", () => {
    const trusted = (text: string) => readConfig({ TRUST_PROXY: text }).access.trustProxy;

    expect(readConfig({}).access.trustProxy).toEqual([]);
    expect(trusted("none")).toEqual([]);
    expect(trusted("2")).toBe(2);
    expect(trusted("10.0.0.0/8, 2001:db8::/32,192.0.2.1")).toEqual([
      "10.0.0.0/8",
      "2001:db8::/32",
      "192.0.2.1",
    ]);
    for (const text of ["true", "0", "99", "10.0.0.0/33", "example.com", "10.0.0.0/8/8", ","]) {
      expect(problemsOf({ TRUST_PROXY: text })).toEqual([
        expect.stringContaining("TRUST_PROXY: expected none, a number of proxies"),
      ]);
    }
  });

  it("sends mail only through a server that is set together with a sender", () => {
    const server = { SMTP_URL: "smtps://me:hunter2@mail.example" };
    const mailOf = (from: string) => readConfig({ ...server, MAIL_FROM: from }).mail;

    expect(readConfig({}).mail).toBeNull();
    for (const from of ["no-reply@example.com", "Order book <no-reply@example.com>"]) {
      expect(mailOf(from)).toEqual({ url: server.SMTP_URL, from });
    }
    expect(problemsOf(server)).toEqual([expect.stringMatching(/^MAIL_FROM: .*SMTP_URL is set/)]);
    expect(problemsOf({ ...server, MAIL_FROM: "nobody" })).toHaveLength(1);
    expect(JSON.stringify(renderInEffect(server))).not.toContain("hunter2");
  });

  it("counts an empty value as absent", () => {
    expect(readConfig({ RPC_URL_1: "", DATABASE_URL: " " })).toEqual(readConfig({}));
  });

  it("indexes wrapped-native events of Ethereum only on request, or on a local chain", () => {
    const real = { RPC_URL_1: "https://rpc.example", FEE_RECIPIENT: feeRecipient };

    expect(chainsOf({})[0]?.wrappedNativeEvents).toBe("all");
    expect(chainsOf(real)[0]?.wrappedNativeEvents).toBe("none");
    expect(chainsOf({ ...real, WRAPPED_NATIVE_EVENTS_1: "all" })[0]?.wrappedNativeEvents).toBe(
      "all",
    );
  });

  it("lists every problem at once, each with what was expected and an example", () => {
    const problems = problemsOf({
      PORT: "http",
      FEE_BPS: "10001",
      COLLECTIONS_1: "0x12",
      RPC_URL_137: "https://rpc.example",
    });

    expect(problems).toEqual([
      "RPC_URL_137: unknown chain; known chains are 1 and 33139",
      'PORT: expected a port number, 1 to 65535, got "http". Example: PORT=4000',
      expect.stringMatching(
        /^COLLECTIONS_1: expected addresses, comma-separated, or \*, got "0x12"/,
      ),
      'FEE_BPS: expected basis points, 0 to 10000, got "10001". Example: FEE_BPS=100',
    ]);
  });

  it("names the setting that another one requires", () => {
    const problems = problemsOf({
      RPC_URL_1: "https://rpc.example",
      WS_URL_33139: "wss://rpc.example",
      DATABASE_READ_URL: "postgres://replica/orders",
    });

    expect(problems.map((problem) => problem.split(":")[0])).toEqual([
      "RPC_URL_33139",
      "FEE_RECIPIENT",
      "DATABASE_URL",
    ]);
  });

  it("prints no key and no password, neither in a problem nor among the settings in effect", () => {
    const secrets = {
      DATABASE_URL: "mysql://me:hunter2@db.example/orders",
      RPC_URL_1: "ftp://rpc.example/v2/hunter2",
      WS_URL_1: "https://rpc.example/hunter2",
    };
    const right = {
      DATABASE_URL: "postgres://me:hunter2@db.example/orders",
      RPC_URL_1: "https://rpc.example/v2/hunter2,https://me:hunter2@two.example",
      WS_URL_1: "wss://rpc.example/?key=hunter2",
    };

    expect(problemsOf(secrets)).toHaveLength(4);
    expect(problemsOf(secrets).join()).not.toContain("hunter2");
    expect(JSON.stringify(renderInEffect(right))).not.toContain("hunter2");
    expect(renderInEffect(right)).toContainEqual({
      name: "DATABASE_URL",
      value: "postgres://***@db.example/orders",
      isDefault: false,
    });
  });

  it("shows nothing of a password that has the form of a URL, and hosts of addresses alone", () => {
    const shown = (name: string, value: string) =>
      renderInEffect({ [name]: value }).find((one) => one.name === name)?.value;

    for (const password of ["correct:horse", "battery://staple/hunter2", "data:hunter2", "plain"])
      expect(shown("OPERATOR_PASSWORD", password)).toBe("***");
    for (const [name, address, masked] of [
      ["RPC_URL_1", "HTTPS://one.example/hunter2", "https://one.example/***"],
      ["WS_URL_1", "wss://one.example/?key=hunter2", "wss://one.example/***"],
      ["SMTP_URL", "smtps://me:hunter2@mail.example", "smtps://mail.example/***"],
      ["DATABASE_URL", "postgresql://me:hunter2@db.example/a", "postgresql://***@db.example/a"],
    ] as const)
      expect(shown(name, address)).toBe(masked);
  });

  it("uses only partner marketplaces whose URL is set", () => {
    const partnersOf = (variables: Record<string, string>) => readConfig(variables).partners;

    expect(partnersOf({})).toMatchObject({ opensea: null, magiceden: null });
    expect(partnersOf({ PARTNER_A_URL: "https://a.example/", PARTNER_A_KEY: "k" })).toMatchObject({
      opensea: { url: "https://a.example", key: "k", requestsPerMinute: 120 },
      magiceden: null,
    });
    const rated = { PARTNER_B_URL: "https://b.example/v3/rtp", PARTNER_B_RATE_LIMIT: "600" };
    expect(partnersOf(rated).magiceden).toEqual({
      ...{ url: "https://b.example/v3/rtp", key: null, requestsPerMinute: 600 },
    });
    expect(problemsOf({ PARTNER_A_KEY: "hunter2", PARTNER_B_RATE_LIMIT: "1" })).toEqual([
      expect.stringContaining("PARTNER_B_RATE_LIMIT: expected requests per minute"),
      expect.stringMatching(/^PARTNER_A_URL: expected .* since PARTNER_A_KEY is set/),
    ]);
    const keys = { PARTNER_A_URL: "https://a.example/hunter2", PARTNER_A_KEY: "hunter2" };
    expect(JSON.stringify(renderInEffect(keys))).not.toContain("hunter2");
  });

  it("names what is wrong with the file of curated collections", () => {
    const folder = mkdtempSync(join(tmpdir(), "curated-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "collections.json");
    const collection = { chainId: 1, slug: "a", name: "A", verified: true, primary: feeRecipient };
    writeFileSync(file, JSON.stringify([{ ...collection, contracts: [] }]));

    expect(problemsOf({ CURATED_FILE: file }).join()).toMatch(/CURATED_FILE: .*contracts/);
    const apes = { ...collection, chainId: 33139, contracts: [feeRecipient] };
    const royalty = { recipient: feeRecipient, bps: 500 };
    writeFileSync(file, JSON.stringify([{ ...apes, royalty }]));
    expect(problemsOf({ CURATED_FILE: file }).join()).toMatch(/CURATED_FILE: .*royalty.*chain 1/);
    expect(problemsOf({ CURATED_FILE: "/no/such" }).join()).toMatch(
      /CURATED_FILE: expected a readable file.*Example: CURATED_FILE=.*ENOENT/,
    );
  });
});

describe("the documents made from the configuration", () => {
  const root = resolve(import.meta.dirname, "../..");

  it("keeps .env.example as `op config --example` prints it", () => {
    expect(readFileSync(join(root, ".env.example"), "utf8")).toBe(renderExample());
  });

  it("keeps docs/configuration.md as `op config --table` prints it", () => {
    expect(readFileSync(join(root, "docs/configuration.md"), "utf8")).toBe(renderDocument());
  });
});

it("refuses one port for the public and for operators", () => {
  const refusal = "OPERATOR_PORT: expected a port number, 1 to 65535, other than PORT";
  expect(() => readConfig({ OPERATOR_PORT: "4000" })).toThrow(refusal);
  expect(() => readConfig({ PORT: "8080", OPERATOR_PORT: "8080" })).toThrow(refusal);
  expect(() => readConfig({ OPERATOR_PORT: "4001", METRICS_PORT: "4001" })).toThrow(
    "METRICS_PORT: expected a port number",
  );
  expect(readConfig({ OPERATOR_PORT: "4001" }).http.metricsPort).toBe(4001);
  expect(readConfig({ OPERATOR_PORT: "4001", METRICS_PORT: "4002" }).http.metricsPort).toBe(4002);
  expect(readConfig({}).http.metricsPort).toBeNull();
});

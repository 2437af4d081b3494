import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { sql } from "kysely";
import { pino } from "pino";
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
  size,
} from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { multicall3 } from "#abis/deployments.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect, type DevnetClient } from "#devnet/client.ts";
import { addressOf as fixtureOf } from "#devnet/contracts/addresses.ts";
import { readArtifact } from "#devnet/contracts/artifacts.ts";
import { create, place, sendAs } from "#devnet/deploy.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { openDocumentFetcher } from "#jobs/metadata/document-fetcher.ts";
import { metadataRefresh } from "#jobs/metadata/refresh-metadata.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { statedIssue } from "#projections/domain/metadata/stated-issue.ts";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { metadataProjection } from "#projections/metadata/metadata.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import {
  addressOf,
  appendEvents,
  block,
  createProjection,
  project,
  zeroAddress,
} from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type DocumentHost, openDocumentHost } from "#test/support/http/document-host.ts";

let database: TestDatabase;
let anvil: Anvil;
let client: DevnetClient;
let host: DocumentHost;
let targets: Target[];
let now: number;

beforeAll(async () => {
  [database, anvil, host] = await Promise.all([
    createDatabase({ template: "projected" }),
    startAnvil({ chainId: 1 }),
    openDocumentHost(),
  ]);
  client = connect(anvil);
  await place(client, multicall3, "Multicall3");
  await client.mine({ blocks: 3 });
});
afterAll(async () => {
  await Promise.all([anvil.stop(), host.close()]);
  await database.drop();
});
beforeEach(async () => {
  now = Date.parse("2026-05-01T00:00:00Z");
  host.asked.length = 0;
  host.answers(says({ name: "unset" }));
  for (const name of ["metadata", "ownership"]) await dropTarget(database.db, schemaOf(name));
  await sql`truncate log.fact`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
  targets = [
    await createProjection(database.db, ownershipProjection),
    await createProjection(database.db, metadataProjection),
  ];
});

const hour = 3_600_000;
const says =
  (document: unknown, status = 200): RequestListener =>
  (_request, response) =>
    response
      .writeHead(status)
      .end(typeof document === "string" ? document : JSON.stringify(document));

type Held = { contract: Address; tokenId: bigint; standard: 721 | 1155 };

let moves = 0;
async function hold(...tokens: readonly Held[]): Promise<void> {
  await appendEvents(
    database.db,
    tokens.map(({ contract, tokenId, standard }) => ({
      kind: standard === 721 ? ("erc721_transfer" as const) : ("erc1155_transfer" as const),
      block: block(1, 1),
      logIndex: moves++,
      contract,
      tokenId,
      from: zeroAddress,
      to: addressOf(1),
      ...(standard === 1155 ? { amount: 5n } : {}),
    })),
  );
  await project(database.db, targets);
}

/** Code that answers any call by one string. */
function answering(uri: string): Hex {
  const data = encodeAbiParameters([{ type: "string" }], [uri]);
  const length = numberToHex(size(data), { size: 2 });
  // codecopy(0, 15, length); return(0, length)
  return concatHex(["0x61", length, "0x61000f60003961", length, "0x6000f3", data]);
}

const served = addressOf(0x500);
async function serve(contract = served, uri = `${host.origin}/{id}`): Promise<void> {
  await client.setCode({ address: contract, bytecode: answering(uri) });
  await client.mine({ blocks: 1 });
}
const edition = (tokenId: bigint, contract = served): Held => ({
  contract,
  tokenId,
  standard: 1155,
});
const pathOf = (tokenId: bigint) => `/${tokenId.toString(16).padStart(64, "0")}`;
const contractPath = "/{id}";

/** The job as a process runs it. `until` folds and rings until the condition holds. */
function startJob(rpcUrl = anvil.rpcUrl, timeoutMs = 3_000) {
  const ending = new AbortController();
  const wake = createSignal();
  const fetcher = openDocumentFetcher({
    ipfsGateways: [host.origin],
    arweaveGateway: host.origin,
    limits: { timeoutMs: 1_000 },
    now: () => now,
    allowedOrigins: [host.origin],
  });
  const logger = pino({ level: "silent" });
  const jobs = metadataRefresh({
    db: database.db,
    client: openChainClient({ chainId: 1, rpcUrls: [rpcUrl], timeoutMs }),
    fetcher,
    changeSignal: wake,
    now: () => new Date(now),
    logger,
  });
  const job = runJobs(jobs, { logger, signal: ending.signal });
  job.catch(() => undefined);
  return {
    async until(condition: () => Promise<boolean>): Promise<void> {
      await expect
        .poll(
          async () => {
            await project(database.db, targets);
            wake.notify();
            return await Promise.race([condition(), job.then(() => condition())]);
          },
          { timeout: 120_000, interval: 20 },
        )
        .toBe(true);
    },
    async stop(): Promise<void> {
      ending.abort();
      await job;
      await fetcher.close();
      await project(database.db, targets);
    },
  };
}

type Row = {
  id: bigint;
  status: string;
  name: string | null;
  attempt: number;
  error: string | null;
};

async function rows(contract?: Address): Promise<Row[]> {
  const { rows } = await sql<Row & { contract: Address }>`
    select k.address as contract, t.token_id as id, t.status, t.name, t.attempt, f.payload ->> 'error' as error
    from metadata.token t join log.contract k using (contract_id) join log.fact f on f.position = t.position
    order by 1, 2`.execute(database.db);
  return rows.filter((row) => contract === undefined || row.contract === contract);
}

async function facts(kind: number, tokenId?: bigint): Promise<number> {
  const { rows } = await sql<{ token_id: bigint | null }>`
    select token_id from log.fact where kind = ${kind}`.execute(database.db);
  return rows.filter((row) => tokenId === undefined || row.token_id === tokenId).length;
}

/** Runs the job until so many tokens have a row, or the condition holds. */
async function runUntil(condition: () => Promise<boolean>): Promise<void> {
  const job = startJob();
  await job.until(condition);
  await job.stop();
}
const tokensKnown = (count: number) => async () => (await rows()).length >= count;

async function writeTo(
  name: string,
  artifact: "Collection" | "Editions",
  functionName: string,
  args: readonly unknown[],
) {
  const { abi = [] } = readArtifact(artifact);
  const data = encodeFunctionData({ abi, functionName, args });
  await sendAs(client, { from: addressOf(1), to: fixtureOf(name), data });
}

describe("the metadata of the local chains' fixtures", () => {
  it("is read from their data URIs, ERC-721, ERC-1155 and the contract's own", async () => {
    await create(client, "apes", "Collection", ["Apes", "APE", addressOf(1)]);
    await create(client, "cards", "Editions", ["Cards", "CARD", addressOf(1)]);
    await writeTo("apes", "Collection", "mintBatch", [addressOf(1), 1n, 6n]);
    await writeTo("cards", "Editions", "mint", [addressOf(1), 3n, 5n]);
    const [apes, cards] = [fixtureOf("apes"), fixtureOf("cards")];
    const ids = [1n, 2n, 3n, 4n, 5n, 6n];
    await hold(
      ...ids.map((tokenId) => ({ contract: apes, tokenId, standard: 721 as const })),
      edition(3n, cards),
    );
    await runUntil(async () => (await rows()).length === 7 && (await facts(93)) === 2);

    expect((await rows(apes)).map(({ status, name }) => [status, name])).toEqual(
      ids.map((id) => ["ok", `Apes #${id}`]),
    );
    const { rows: found } = await sql<Record<string, unknown>>`
      select name, description, content_type, attributes, left(image, 26) as image, left(token_uri, 29) as uri
      from metadata.token t join log.contract k using (contract_id)
      where k.address = ${Buffer.from(cards.slice(2), "hex")}`.execute(database.db);
    expect(found).toEqual([
      {
        name: "Cards #3",
        description: "Number 3 of Cards.",
        content_type: "image/svg+xml",
        image: "data:image/svg+xml;base64,",
        uri: "data:application/json;base64,",
        attributes: [
          { trait_type: "Background", value: expect.any(String) },
          { trait_type: "Hat", value: "Top Hat" },
          { trait_type: "Level", value: 12, display_type: "number" },
          { trait_type: "Speed", value: 15, display_type: "boost_percentage" },
        ],
      },
    ]);
    const { rows: contracts } =
      await sql`select name, status from metadata.contract order by name`.execute(database.db);
    expect(contracts).toEqual([
      { name: "Apes", status: "ok" },
      { name: "Cards", status: "ok" },
    ]);
    expect(host.asked).toEqual([]);
  });
});

describe("a token's URI as contracts write it", () => {
  const cid = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
  const gatewayPath = `/ipfs/${cid}`;

  it("has the id in each form that may be meant (case 22)", async () => {
    const [hexed, decimal, escaped] = [addressOf(0x710), addressOf(0x711), addressOf(0x712)];
    await serve(hexed, `ipfs://${cid}/hex/{id}`);
    await serve(decimal, `ipfs://${cid}/decimal/{id}`);
    await serve(escaped, `ipfs://${cid}/%7Bid%7D.json`);
    const names: Record<string, string> = {
      [`${gatewayPath}/hex${pathOf(7n)}`]: "hex",
      [`${gatewayPath}/decimal/7`]: "decimal",
      [`${gatewayPath}${pathOf(7n)}.json`]: "escaped",
    };
    host.answers((request, response) => {
      const name = names[request.url ?? ""];
      says(name === undefined ? {} : { name }, name === undefined ? 404 : 200)(request, response);
    });
    await hold(
      { contract: hexed, tokenId: 7n, standard: 721 },
      { contract: decimal, tokenId: 7n, standard: 721 },
      edition(7n, escaped),
    );
    await runUntil(tokensKnown(3));
    expect((await rows()).map(({ status, name }) => [status, name])).toEqual([
      ["ok", "hex"],
      ["ok", "decimal"],
      ["ok", "escaped"],
    ]);
  });

  it("is left out beyond its limit, which the row says beside what else was", async () => {
    const [long, gone] = [addressOf(0x715), addressOf(0x716)];
    const name = "n".repeat(300);
    host.answers((request, response) => {
      const isGone = request.url?.startsWith("/gone") === true;
      says(isGone ? {} : { name }, isGone ? 404 : 200)(request, response);
    });
    await serve(long, `${host.origin}/${"x".repeat(2_048)}`);
    await serve(gone, `${host.origin}/gone${"x".repeat(2_048)}`);
    await hold(edition(1n, long), edition(1n, gone));
    await runUntil(tokensKnown(2));
    const { rows: issues } = await sql<{ uri: string | null; status: string; issue: string }>`
      select token_uri as uri, status, issue from metadata.token join log.contract using (contract_id)
      order by address`.execute(database.db);
    expect(
      issues.map(({ uri, status, issue }) => [uri, status === "ok" ? issue : statedIssue(issue)]),
    ).toEqual([
      [null, "name cut to 256 characters; tokenUri left out: longer than 2048 characters"],
      [null, "the host answered HTTP 404; tokenUri left out: longer than 2048 characters"],
    ]);
  });

  it("says what is left out of a contract's own document as well", async () => {
    const [long, picture] = [addressOf(0x715), addressOf(0x716)];
    const name = "n".repeat(300);
    host.answers(says({ name }));
    await serve(long, `${host.origin}/${"x".repeat(2_048)}`);
    await serve(picture, "data:image/png;base64,iVBORw0=");
    await hold(edition(1n, long), edition(1n, picture));
    const read = async () =>
      await sql<{ status: string; issue: string; uri: string | null }>`
        select status, issue, uri from metadata.contract join log.contract using (contract_id)
        where address in (${Buffer.from(long.slice(2), "hex")}, ${Buffer.from(picture.slice(2), "hex")})
        order by address`.execute(database.db);
    await runUntil(async () => (await read()).rows.length === 2);
    expect((await read()).rows).toEqual([
      {
        status: "ok",
        issue: "name cut to 256 characters; contractUri left out: longer than 2048 characters",
        uri: null,
      },
      {
        status: "failed",
        issue: "the document is a picture, not JSON",
        uri: "data:image/png;base64,iVBORw0=",
      },
    ]);
  });

  it("may hold a document that a contract wrote by hand (cases 14 and 16)", async () => {
    const [handmade, schema] = [addressOf(0x713), addressOf(0x714)];
    await serve(
      handmade,
      'data:application/json;utf8,{"name":"raw newline","description":"one\ntwo","image":"https://example.com/a.png",}',
    );
    const properties = { name: { type: "string", description: "Schema Name" } };
    const described = JSON.stringify({ title: "Asset Metadata", type: "object", properties });
    await serve(schema, `data:application/json,${described}`);
    await hold(edition(1n, handmade), edition(1n, schema));
    await runUntil(tokensKnown(2));
    expect((await rows()).map(({ status, name, error }) => [status, name ?? error])).toEqual([
      ["ok", "raw newline"],
      ["failed", "the document is a JSON schema, not metadata"],
    ]);
  });
});

describe("contracts that revert, loop or return invalid data", () => {
  const hostile = {
    reverting: "0x60006000fd",
    looping: "0x5b600056",
    invalid: "0xfe",
    silent: "0x00",
    nonsense: "0x60ff60005260206000f3",
    /** A megabyte and a half of zeros. */
    flooding: "0x621500006000f3",
  } satisfies Record<string, Hex>;

  it.each(["with", "without"])("cost others nothing, %s Multicall3", async (multicall) => {
    if (multicall === "without") await client.setCode({ address: multicall3, bytecode: "0x" });
    const bad = Object.values(hostile).map((bytecode, index) => ({
      bytecode,
      address: addressOf(0x600 + index),
    }));
    for (const { bytecode, address } of bad) await client.setCode({ address, bytecode });
    await serve();
    await hold(
      ...bad.flatMap(({ address }) =>
        [1n, 2n, 3n].map((tokenId) => ({ contract: address, tokenId, standard: 721 as const })),
      ),
      edition(1n),
      edition(2n),
    );
    await runUntil(tokensKnown(bad.length * 3 + 2));
    expect((await rows(served)).map(({ status }) => status)).toEqual(["ok", "ok"]);
    for (const { address } of bad) {
      expect(await rows(address)).toMatchObject(
        [1n, 2n, 3n].map((id) => ({
          id,
          status: "failed",
          attempt: 1,
          error: expect.stringMatching(/URI call reverted|the contract's URI|empty/),
        })),
      );
    }
    await place(client, multicall3, "Multicall3");
  });
});

/** A node whose answers are counted: bytes sent, and calls of a contract. */
async function openMeter(contract: Address) {
  const meter = { bytes: 0, calls: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    meter.calls += body.split(contract.slice(2).toLowerCase()).length - 1;
    const headers = { "content-type": "application/json" };
    const answer = await fetch(anvil.rpcUrl, { method: "POST", headers, body }).catch(() => null);
    if (answer === null) return void response.destroy();
    const bytes = Buffer.from(await answer.arrayBuffer());
    await pipeline(function* parts() {
      for (let start = 0; start < bytes.length; start += 65_536) {
        const part = bytes.subarray(start, start + 65_536);
        meter.bytes += part.length;
        yield part;
      }
    }, response).catch(() => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    meter,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a contract with 400 tokens whose URIs have 655 kB", () => {
  it("costs a bounded number of bytes, rests longer each time, and others are fetched meanwhile", async () => {
    const large = addressOf(0x700);
    const small = addressOf(0x701);
    // return(0, 0xa0000)
    await client.setCode({ address: large, bytecode: "0x620a00006000f3" });
    await serve(small, 'data:application/json,{"name":"small"}');
    const ids = (count: number, contract: Address) =>
      Array.from({ length: count }, (_, index) => edition(BigInt(index + 1), contract));
    await hold(...ids(400, large), ...ids(20, small));
    const { meter, url, close } = await openMeter(large);
    const job = startJob(url, 60_000);

    await job.until(async () => (await rows(small)).length === 20);
    const first = (await rows(large)).length;
    expect(first).toBe(4);
    await hold(...ids(40, small).slice(20));
    await job.until(async () => (await rows(small)).length === 40);
    // The large one waits for five minutes.
    expect((await rows(large)).length).toBe(first);
    now += 5 * 60_000;
    await job.until(async () => (await rows(large)).length > first);
    const second = (await rows(large)).length;
    now += 5 * 60_000;
    await hold(edition(99n, small));
    await job.until(async () => (await rows(small)).length === 41);
    // Now it waits for ten.
    expect((await rows(large)).length).toBe(second);
    await job.stop();
    await close();

    expect((await rows(large))[0]).toMatchObject({
      status: "failed",
      error: "the contract's URI is larger than 65536 bytes",
    });
    expect(second).toBe(8);
    // All 400 answers would be 525 MB.
    expect(meter.bytes).toBeLessThan(100_000_000);
  });
});

describe("a contract whose tokens have 100 traits that no other token has", () => {
  const endless = (contract: Address, count: number) =>
    Array.from({ length: count }, (_, index) => edition(BigInt(index + 1), contract));
  const traits: RequestListener = (request, response) => {
    const attributes = Array.from({ length: 100 }, (_, index) => ({
      trait_type: `type ${index}`,
      value: `${request.url} ${index}`,
    }));
    says({ name: "Endless", attributes })(request, response);
  };

  it("may store a few documents, rests longer each time, up to a day, and others are fetched meanwhile", async () => {
    const contract = addressOf(0x704);
    const plain = addressOf(0x705);
    await serve(contract);
    await serve(plain, 'data:application/json,{"name":"plain","attributes":{"size":"small"}}');
    host.answers(traits);
    await hold(...endless(contract, 60), ...endless(plain, 1));
    const job = startJob();
    const stored: number[] = [];
    for (const rest of [0, 30, 60, 120, 240, 480, 960, 1_440]) {
      const before = (await rows(contract)).length;
      if (rest > 0) {
        now += (rest - 1) * 60_000;
        await hold(edition(BigInt(rest), plain));
        await job.until(async () => (await rows(plain)).some(({ id }) => id === BigInt(rest)));
        expect((await rows(contract)).length).toBe(before);
        now += 60_000;
      }
      await job.until(async () => (await rows(contract)).length > before);
      stored.push((await rows(contract)).length - before);
    }
    await job.stop();
    // A document's traits take about 70 kB.
    expect(Math.max(...stored)).toBeLessThanOrEqual(4);
  });

  it("is no reason to wait once the contract was traded", async () => {
    const contract = addressOf(0x706);
    await serve(contract);
    host.answers(traits);
    await hold(...endless(contract, 20));
    await sql`
      insert into sales.total (chain_id, contract_id, sales)
      select chain_id, contract_id, 1 from log.contract where address = ${bytea(contract)}`.execute(
      database.db,
    );
    await runUntil(async () => (await rows(contract)).length === 20);
  });
});

describe("a collection of 2,000 ordinary tokens", () => {
  it("is fetched without a rest", async () => {
    await serve();
    host.answers((request, response) => {
      const id = Number.parseInt(request.url?.slice(1) ?? "", 16) || 0;
      const attributes = Array.from({ length: 12 }, (_, type) => ({
        trait_type: `type ${type}`,
        value: `${(id * (type + 7)) % 40}`,
      }));
      const serial = { trait_type: "serial number", value: `${id}` };
      says({ name: `#${id}`, attributes: [...attributes, serial] })(request, response);
    });
    await hold(...Array.from({ length: 2_000 }, (_, index) => edition(BigInt(index + 1))));
    await runUntil(tokensKnown(2_000));
  });
});

describe("a contract that minted 100,000 tokens in one range, which have no document", () => {
  const noDocument = 'data:application/json,""';

  async function mintRange(contract: Address): Promise<void> {
    const event = { kind: "erc721_consecutive_transfer", block: block(1, 1) } as const;
    const range = { tokenId: 0n, amount: 100_000n, from: zeroAddress, to: addressOf(1) };
    await appendEvents(database.db, [{ ...event, ...range, contract, logIndex: moves++ }]);
    await project(database.db, targets);
  }
  /** Bytes of facts and rows of the contract's tokens. */
  async function taken(contract: Address): Promise<number> {
    const { rows } = await sql<{ bytes: number }>`
      select coalesce(sum(length(f.payload::text) + 600), 0)::int as bytes
      from log.fact f join log.contract k using (contract_id)
      where k.address = ${bytea(contract)} and f.token_id is not null and f.payload ? 'status'`.execute(
      database.db,
    );
    return rows[0]?.bytes ?? 0;
  }
  const dailyBytes = 128 * 1024;

  it("takes what a day allows, then an eighth of it at a time, and others are fetched meanwhile", async () => {
    const contract = addressOf(0x707);
    const plain = addressOf(0x708);
    await serve(contract, noDocument);
    await serve(plain, 'data:application/json,{"name":"plain"}');
    await mintRange(contract);
    const job = startJob();
    const isPaused = async () => (await taken(contract)) > dailyBytes;
    await job.until(isPaused);
    await hold(...Array.from({ length: 100 }, (_, index) => edition(BigInt(index + 1), plain)));
    await job.until(async () => (await rows(plain)).length === 100);
    expect(await taken(contract)).toBeLessThan(1.1 * dailyBytes);

    now += 4 * hour;
    await job.until(async () => (await taken(contract)) > 1.12 * dailyBytes);
    now += 20 * hour;
    await job.stop();
    expect(await taken(contract)).toBeLessThan(1.4 * dailyBytes);
  });
});

describe("a contract whose documents are slow", () => {
  it("waits alone: documents of others are fetched meanwhile", async () => {
    const slow = addressOf(0x702);
    await serve(slow);
    await serve();
    host.answers((request, response) => {
      setTimeout(() => says({ name: request.url })(request, response), 900);
    });
    const ids = Array.from({ length: 200 }, (_, index) => edition(BigInt(index + 1), slow));
    const quick = addressOf(0x703);
    await serve(quick, 'data:application/json,{"name":"quick"}');
    await hold(...ids, edition(1n, quick));
    const job = startJob();
    await job.until(async () => (await rows(quick)).length === 1);
    await hold(edition(2n, quick));
    await job.until(async () => (await rows(quick)).length === 2);
    await job.stop();
    expect(host.asked.length).toBeLessThan(60);
  });
});

describe("fetching", () => {
  it("fetches each token once, also when the process is killed and another continues", async () => {
    await serve();
    const ids = Array.from({ length: 40 }, (_, index) => BigInt(index + 1));
    let held: (() => void)[] = [];
    let answered = 0;
    host.answers((request, response) => {
      const answer = () => says({ name: request.url })(request, response);
      if (request.url === contractPath || answered < 33) {
        answered += 1;
        answer();
      } else held.push(answer);
    });
    await hold(...ids.map((id) => edition(id)));
    const first = startJob();
    await first.until(async () => (await facts(92)) >= 32 && held.length > 0);
    await first.stop();
    const kept = await facts(92);
    expect(kept).toBeLessThan(ids.length);
    expect((await rows()).every(({ status }) => status === "ok")).toBe(true);

    held = [];
    answered = 0;
    host.answers((request, response) => says({ name: request.url })(request, response));
    await runUntil(tokensKnown(ids.length));
    expect(await facts(92)).toBe(ids.length);
    expect((await rows()).map(({ name }) => name)).toEqual(ids.map(pathOf));
    expect(host.mostAtOnce()).toBe(1);
  });

  it("retries failures ever more rarely, and continues counting after a restart", async () => {
    await serve();
    host.answers(says("gone", 404));
    await hold(edition(1n));
    const attempts: [number, number][] = [];
    for (const waitMs of [0, 60_000, 30 * 60_000, 6 * hour]) {
      now += waitMs - 1;
      const before = host.asked.filter((path) => path === pathOf(1n)).length;
      const job = startJob();
      if (waitMs > 0) {
        // A whole pass that finds nothing due.
        await hold(edition(BigInt(100 + waitMs)));
        await job.until(async () => (await rows()).some(({ id }) => id === BigInt(100 + waitMs)));
        expect(host.asked.filter((path) => path === pathOf(1n))).toHaveLength(before);
      }
      now += 1;
      await job.until(async () => host.asked.filter((path) => path === pathOf(1n)).length > before);
      await job.until(async () => (await facts(92, 1n)) > attempts.length);
      await job.stop();
      const [row] = (await rows()).filter(({ id }) => id === 1n);
      attempts.push([await facts(92, 1n), row?.attempt ?? 0]);
    }
    expect(attempts).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ]);

    now += 24 * hour;
    host.answers(says({ name: "back" }));
    await runUntil(async () =>
      (await rows()).some(({ id, status }) => id === 1n && status === "ok"),
    );
    expect((await rows()).find(({ id }) => id === 1n)).toMatchObject({ name: "back", attempt: 0 });
  });

  it("fetches again after a month, and records what changed, what changed back and what did not", async () => {
    await serve();
    await hold(edition(1n));
    const told: [string | null | undefined, number, number][] = [];
    for (const [name, status] of [
      ["A", 200],
      ["A", 200],
      ["B", 200],
      ["A", 200],
      ["lost", 500],
    ] as const) {
      host.answers(says({ name }, status));
      const before = await readLogHead(database.db);
      await runUntil(async () => (await readLogHead(database.db)) >= before + 2n);
      const [row] = await rows();
      told.push([row?.name, await facts(92), await facts(94, 1n)]);
      now += 30 * 24 * hour;
    }
    expect(told).toEqual([
      ["A", 1, 0],
      ["A", 1, 1],
      ["B", 2, 1],
      ["A", 3, 1],
      ["A", 4, 1],
    ]);
    expect((await rows())[0]).toMatchObject({ status: "ok", name: "A", attempt: 1 });
  });

  it("appends no fact about a document whose host is paused, and fetches from others meanwhile", async () => {
    await serve();
    const other = addressOf(0x501);
    const ids = [1n, 2n, 3n, 4n, 5n, 6n, 8n, 9n];
    await serve(other, 'data:application/json,{"name":"inline"}');
    host.answers((_request, response) => response.writeHead(429, { "retry-after": "600" }).end());
    await hold(...ids.map((id) => edition(id)), edition(7n, other));
    await runUntil(async () => (await rows(other)).length === 1);
    const known = (await rows(served)).length;
    expect(known).toBeLessThanOrEqual(4);
    expect(host.asked.length).toBeLessThanOrEqual(4);

    now += 601_000;
    host.answers(says({ name: "later" }));
    await runUntil(
      async () =>
        (await rows(served)).filter(({ status }) => status === "ok").length === ids.length,
    );
  });

  it("leaves a contract alone for no longer than the host of its documents", async () => {
    await serve();
    const ids = [1n, 2n, 3n, 4n, 5n, 6n, 8n, 9n];
    host.answers((_request, response) => response.writeHead(429, { "retry-after": "60" }).end());
    await hold(...ids.map((id) => edition(id)));
    const job = startJob();
    await job.until(async () => (await rows(served)).length > 0);
    now += 61_000;
    host.answers(says({ name: "later" }));
    await job.until(
      async () =>
        (await rows(served)).filter(({ status }) => status === "ok").length === ids.length,
    );
    await job.stop();
  });

  it("records hostile documents as far as they can be parsed", async () => {
    await serve();
    const documents: Record<string, string> = {
      [pathOf(1n)]:
        '{"name":"nul \\u0000 and half \\ud800","attributes":[{"trait_type":"A","value":{}}]}',
      [pathOf(2n)]: "<html><body>404</body></html>",
      [pathOf(3n)]: JSON.stringify({
        name: "many",
        attributes: Array.from({ length: 5_000 }, (_, i) => ({ trait_type: "T", value: i })),
      }),
      [pathOf(4n)]: `${"[".repeat(300_000)}`,
      [pathOf(5n)]: '{"__proto__":{"status":"ok"},"name":["no"],"image":7}',
      [pathOf(6n)]: `{"name":"${"x".repeat(2_000_000)}"}`,
      [pathOf(7n)]: '{"name":"\ufeff\u202e name","description":1e400}',
    };
    host.answers((request, response) => response.end(documents[request.url ?? ""] ?? "{}"));
    await hold(...[1n, 2n, 3n, 4n, 5n, 6n, 7n].map((id) => edition(id)));
    await runUntil(tokensKnown(7));
    expect((await rows()).map(({ status, name, error }) => [status, name ?? error])).toEqual([
      ["ok", "nul and half \ufffd"],
      ["failed", "the document is HTML or XML, not JSON"],
      ["ok", "many"],
      ["failed", "the document is not JSON"],
      ["failed", "the document has no metadata"],
      ["failed", expect.stringContaining("larger than 1048576 bytes")],
      ["ok", expect.stringContaining("name")],
    ]);
    const { rows: counts } = await sql<{ count: number }>`
      select jsonb_array_length(attributes) as count from metadata.token where name = 'many'`.execute(
      database.db,
    );
    expect(counts).toEqual([{ count: 200 }]);
  });

  it("waits for an RPC that is down", async () => {
    const { port } = new URL(anvil.rpcUrl);
    await anvil.stop();
    await hold(edition(1n));
    const job = startJob();
    await project(database.db, targets);
    anvil = await startAnvil({ chainId: 1, port: Number(port) });
    client = connect(anvil);
    await serve();
    host.answers(says({ name: "at last" }));
    await job.until(tokensKnown(1));
    await job.stop();
    expect(await rows()).toMatchObject([{ status: "ok", name: "at last" }]);
  });
});

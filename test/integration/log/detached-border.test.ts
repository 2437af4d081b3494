import { copyFile, mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { archivePartition } from "../../../api/run/archives/archive-partition.ts";
import { checkArchives } from "../../../api/run/inspection/find-archive-problems.ts";
import { createApp } from "../../../api/serve/app.ts";
import { readArchives } from "../../../projections/log/archives/archives.ts";
import { attachPartition } from "../../../projections/log/archives/attach-partition.ts";
import { detachPartition } from "../../../projections/log/archives/detach-partition.ts";
import { readLoggedBlocks } from "../../../projections/log/audit.ts";
import { formatEventId, idAfterPosition } from "../../../projections/reads/feed/event.ts";
import { partitionAt } from "../../support/database/archives.ts";
import { operate } from "../../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { recordHistory, wholePartitions } from "../../support/database/recorded-history.ts";
import { type ApiClient, serve } from "../../support/http/openapi.ts";
import { baseUrl, contextOver, logger } from "../feed/feed-stage.ts";

let database: TestDatabase;
let directory: string;
let api: ApiClient;
/** The last position that is detached. */
let border: bigint;
/** What answers were before. */
let audited: unknown;
let activity: { data: unknown[]; meta: object };

const path = "/v1/activity?chainId=1&type=transfer&per_page=100";
const auditedBlocks = () => readLoggedBlocks(database.db, 1, { from: 0, to: 1_000_000 });
const get = async (at: string) => {
  const { status, body } = await api.get(at);
  // biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
  return { status, body: body as any };
};

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  directory = await mkdtemp(join(tmpdir(), "border-"));
  await recordHistory(database.db, 2, { partitionSize: 120 });
  audited = await auditedBlocks();
  // The site that answers link to is the API's own.
  const context = { ...contextOver(database.db), siteUrl: baseUrl };
  api = await serve(createApp({ context, baseUrl, logger }));
  activity = (await get(path)).body;
  for (const one of await wholePartitions(database.db)) {
    const archive = await archivePartition(database.db, one, directory);
    await detachPartition(database.db, one, archive);
    border = one.last;
  }
}, 120_000);
afterAll(async () => {
  await api.close();
  await database.drop();
  await rm(directory, { recursive: true });
});

describe("where old facts are in archives alone", () => {
  it("lists of activity say up to which block transfers are left out, and others do not", async () => {
    const { body } = await get(path);
    expect(body.data.length).toBeLessThan(activity.data.length);
    expect(body.meta.archived_to).toEqual({
      blockNumber: expect.any(Number),
      timestamp: expect.any(String),
    });
    expect(activity.meta).not.toHaveProperty("archived_to");
    const sales = await get("/v1/activity?chainId=1&type=sale,cancel,listing");
    expect(sales.body.meta).not.toHaveProperty("archived_to");
    const old = body.data.find(
      ({ blockNumber }: { blockNumber?: number }) =>
        blockNumber !== undefined && blockNumber <= body.meta.archived_to.blockNumber,
    );
    const transaction = await get(`/v1/transactions/${old.txHash}?chainId=1`);
    expect(transaction.body.data.archivedTo).toEqual(body.meta.archived_to);
  });

  it("pages with activity say it below their table", async () => {
    const { body } = await get(path);
    const { blockNumber } = body.meta.archived_to;
    const [{ txHash, contract, tokenId, to }] = body.data.filter(
      (one: { blockNumber: number }) => one.blockNumber <= blockNumber,
    );
    const hasNote = async (page: string) => {
      const text = await (await fetch(`${api.url}${page}`)).text();
      expect(text).toContain("<table>");
      return text.includes(`up to block ${blockNumber.toLocaleString("en-US")},`);
    };
    for (const page of [
      "/activity?chainId=1",
      `/collections/${contract}?chainId=1&view=activity`,
      `/collections/${contract}/tokens/${tokenId}?chainId=1`,
      `/wallets/${to}?chainId=1&view=activity`,
      `/transactions/${txHash}?chainId=1`,
    ])
      expect(await hasNote(page), page).toBe(true);
    expect(await hasNote("/activity?chainId=1&type=sale")).toBe(false);
  });

  it("the feed is refused with the first event id that it can go on from", async () => {
    const { status, body } = await get("/v1/events?chainId=1&after=0-0");
    const first = formatEventId(idAfterPosition(border));

    expect([status, body.code]).toEqual([410, "events_archived"]);
    expect(body.message).toContain(`after=${first}`);
    expect((await get(`/v1/events?chainId=1&after=${first}`)).status).toBe(200);
  });

  it("an audit still finds every event", async () => {
    expect(await auditedBlocks()).toEqual(audited);
  });

  it("exports and explanations say what they lack", async () => {
    const exported = await operate(database.url, "export", "transfers");
    expect([exported.code, exported.words]).toEqual([
      1,
      expect.stringMatching(/are archived: op log attach/),
    ]);
    const tailed = await operate(database.url, "tail", "--after", "0");
    expect([tailed.code, tailed.words]).toEqual([1, expect.stringMatching(/in archives alone/)]);
  }, 30_000);

  it("the doctor warns of a file that is gone or has another size", async () => {
    const [archive] = await readArchives(database.db);
    if (archive === undefined) throw new Error("a partition is archived");
    const place = join(directory, archive.file);
    expect(await checkArchives(database.db)).toEqual([]);
    await copyFile(place, `${place}.copy`);
    await truncate(place, 100);
    expect(await checkArchives(database.db)).toMatchObject([
      { finding: expect.stringMatching(/has 100 bytes in place of/) },
    ]);
    await rm(place);
    expect(await checkArchives(database.db)).toMatchObject([
      { isFault: true, finding: expect.stringMatching(/is missing/) },
    ]);
    await copyFile(`${place}.copy`, place);
  });

  it("all of it is there again once the facts are back", async () => {
    for (const archive of await readArchives(database.db))
      await attachPartition(database.db, await partitionAt(database.db, archive.first), archive);
    expect((await get(path)).body).toEqual(activity);
    expect((await get("/v1/events?chainId=1&after=0-0")).status).toBe(200);
  });
});

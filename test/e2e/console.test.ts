import pg from "pg";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { advance } from "#projections/engine/tick.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { readOperatorActions, readPaused } from "#projections/log/operators.ts";
import { schemaOf } from "#projections/log/versions.ts";
import {
  apes,
  appendTrades,
  appendUnreadableOrder,
  prepare,
  retractBlocks,
} from "../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import {
  findBarriers,
  keepPicture,
  openPage,
  overflowOf,
  startBrowser,
  type TestBrowser,
} from "../support/http/browser.ts";
import { openConsole, runAsSupervisor, type TestConsole } from "../support/http/console.ts";
import { recordHostilePartners } from "../support/http/hostile-partner.ts";
import { strangeParts } from "../support/http/page-checks.ts";
import { seedsOf } from "../support/thoroughness.ts";

let database: TestDatabase;
let console: TestConsole;
let testBrowser: TestBrowser;

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  const { db } = database;
  const targets = await prepare(db);
  await appendTrades(db, 1, 6);
  await appendUnreadableOrder(db, 7);
  await retractBlocks(db, 5, 6);
  await recordHostilePartners(db);
  while ((await advance(db, targets)).outcome !== "idle");
  console = await openConsole(database, { runOperation: runAsSupervisor(database) });
  for (const minutes of [120, 60, 1]) {
    await console.sample(new Date(Date.now() - minutes * 60_000));
  }
  testBrowser = await startBrowser();
});
afterAll(async () => {
  await testBrowser?.close();
  await console?.close();
  await database?.drop();
});

const pages = {
  overview: "/",
  chains: "/chains",
  log: "/log",
  fact: "/log/3",
  row: `/log/row?what=token&id=1:${apes}:5`,
  projections: "/projections",
  work: "/work",
  upstream: "/upstream",
  endpoints: "/endpoints",
  callers: "/callers",
  database: "/database",
  actions: "/actions",
  confirm: "/actions/new?action=pause&target=listings",
  command: "/actions/new?action=rebuild&target=sales",
  unknown: "/nowhere",
};
const looks = [
  ["wide", 1280, "light"],
  ["narrow-dark", 360, "dark"],
] as const;

it.each(seedsOf(looks))(
  "can be used by everybody, and keeps its policy: %s",
  async (look, width, colorScheme) => {
    const context = await testBrowser.browser.newContext({
      viewport: { width, height: 844 },
      colorScheme,
    });
    const { page, complaints } = await openPage(context);
    for (const [name, path] of Object.entries(pages)) {
      const response = await page.goto(console.url + path);
      expect.soft(response?.status(), name).toBe(name === "unknown" ? 404 : 200);
      await keepPicture(page, `console-${name}-${look}`);
      expect.soft(await findBarriers(page), name).toEqual([]);
      expect
        .soft(await overflowOf(page), `${name} is wider than its window`)
        .toBeLessThanOrEqual(0);
    }
    await context.close();
    expect(complaints.filter((text) => !/status of 404/.test(text))).toEqual([]);
  },
);

describe("without scripts", () => {
  it("an operator pauses a part of the service: an action, its confirmation, its record", async () => {
    const context = await testBrowser.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${console.url}/actions`);
    await page.getByRole("link", { name: "Pause offers" }).click();
    await page.getByLabel("Your name").fill("Grace");
    await page.getByLabel("Reason").fill("maintenance of the node");
    expect(await readPaused(database.db)).toEqual([]);
    await page.getByRole("button", { name: "Pause offers" }).click();

    await page.getByRole("link", { name: "Resume offers" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/actions");
    expect(await readPaused(database.db)).toEqual(["offers"]);
    const history = page.getByRole("table", { name: "Actions of operators" });
    expect(await history.locator("tbody tr").first().innerText()).toContain(
      "maintenance of the node",
    );
    const [newest] = await readOperatorActions(database.db, 1);
    expect(newest).toMatchObject({ by: "Grace", action: "pause", ended: { isDone: true } });
    await context.close();
  });
});

/** Keeps a command that reads the floors from its end, until it is let go. */
async function holdFloors() {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("begin");
  await client.query(`lock table ${schemaOf("floors")}.floor in access exclusive mode`);
  return { letGo: () => client.end() };
}

/** Confirms an action, and comes to its page. */
async function startAction(page: Page, action: string, target: string): Promise<void> {
  await page.goto(`${console.url}/actions/new?action=${action}&target=${target}`);
  await page.getByLabel("Your name").fill("Grace");
  await page.getByLabel("Reason").fill("a look at the floors");
  await page.getByRole("button").last().click();
  await page.waitForURL(/\/actions\/[0-9a-f-]{36}$/);
}

describe("an action's page", () => {
  it("shows what is done of what while it runs, by itself, and how it ended", async () => {
    const context = await testBrowser.browser.newContext({ viewport: { width: 360, height: 844 } });
    const { page, complaints } = await openPage(context);
    const floors = await holdFloors();
    await startAction(page, "verify", "floors");
    const path = page.url();
    const task = page.getByRole("table", { name: "Tasks" }).getByRole("row", { name: "floors" });
    await task.waitFor();
    expect(await page.locator("main").innerText()).toMatch(/State\s+running/);
    const [, done = "", total] = /(\d+) of (\d+) facts/.exec(await task.innerText()) ?? [];
    expect(Number(total)).toBe(Number(await readLogHead(database.db)));
    expect(Number(done)).toBeLessThanOrEqual(Number(total));
    expect(await task.getByRole("progressbar").getAttribute("aria-label")).toBe("floors");
    await keepPicture(page, "console-action-running");
    expect(await findBarriers(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);

    const plain = await testBrowser.browser.newContext({ javaScriptEnabled: false });
    const bare = await plain.newPage();
    await bare.goto(path);
    expect(await bare.locator("main").innerText()).toMatch(/floors.*of \d+ facts/s);

    await startAction(bare, "verify", "sales");
    await expect
      .poll(async () => {
        await bare.reload();
        return await bare.locator("main").innerText();
      })
      .toMatch(/failed.*Why it failed\s+another operation is running/s);
    await bare.getByRole("link", { name: "Run again sales" }).click();
    await bare.getByRole("heading", { name: "Verify sales?" }).waitFor();
    await plain.close();

    await floors.letGo();
    await page.getByText("no row differs").waitFor();
    expect(await page.locator("main").innerText()).toMatch(/State\s+done/);
    expect(await page.getByRole("table", { name: "Tasks" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: /Run again/ }).count()).toBe(0);
    await keepPicture(page, "console-action-done");
    await context.close();
    expect(complaints).toEqual([]);
  });
});

describe("an open page", () => {
  it("shows what is new without being loaded again, until it is paused", async () => {
    const context = await testBrowser.browser.newContext();
    const { page, complaints } = await openPage(context);
    await page.goto(`${console.url}/log`);
    await appendTrades(database.db, 20, 20);
    const head = await readLogHead(database.db);
    await page.locator(`tr[data-key="${head}"]`).waitFor();
    await page.getByRole("button", { name: "Stop refreshing" }).click();
    await page.getByRole("button", { name: "Refresh by itself" }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});

it("is not harmed by what a partner answered", async () => {
  const head = Number(await readLogHead(database.db));
  const context = await testBrowser.browser.newContext();
  const { page, complaints } = await openPage(context);
  const facts = [0, 1, 10, 20].map((back) => `/log/${head - back}`);
  for (const path of ["/upstream", "/log", ...facts]) {
    expect.soft((await page.goto(console.url + path))?.status(), path).toBe(200);
    expect.soft(await strangeParts(page), path).toEqual([]);
  }
  await page.goto(`${console.url}/upstream`);
  expect(await page.locator("main").innerText()).toContain("malformed");
  await context.close();
  expect(complaints).toEqual([]);
});

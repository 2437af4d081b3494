import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import chromium from "@sparticuz/chromium";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium as driver, type Page } from "playwright-core";
import { z } from "zod";

export type TestBrowser = {
  browser: Browser;
  close(): Promise<void>;
};

export async function startBrowser(): Promise<TestBrowser> {
  const scratch = await mkdtemp(join(tmpdir(), "browser-"));
  // Where the browser is unpacked; restored for the files that share this worker.
  const { TMPDIR } = env;
  env.TMPDIR = scratch;
  const browser = await driver.launch({
    args: ["--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage"],
    executablePath: await chromium.executablePath(),
    headless: true,
  });
  if (TMPDIR === undefined) delete env.TMPDIR;
  else env.TMPDIR = TMPDIR;
  return {
    browser,
    async close() {
      await browser.close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

/** A page, and what its console says: errors, warnings, and breaches of its content security policy. */
export async function openPage(
  context: BrowserContext,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints };
}

/** Keeps a screenshot of the whole page where `PICTURES_DIR` names a folder: drawing one takes a second. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (env.PICTURES_DIR === undefined) return;
  await page.screenshot({ path: join(env.PICTURES_DIR, `${name}.png`), fullPage: true });
}

const Findings = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullable(),
    nodes: z.array(z.object({ html: z.string() })),
  }),
);

/** What axe finds on a page, by all rules or the named ones; needs scripts. */
export async function findBarriers(
  page: Page,
  rules?: readonly string[],
): Promise<z.output<typeof Findings>> {
  // The page's own rules let no foreign script run; the driver may.
  await page.evaluate(`if (!("axe" in window)) { ${axe.source} }`);
  const options = rules === undefined ? "" : JSON.stringify({ runOnly: rules });
  return Findings.parse(
    await page.evaluate(`axe.run(${options}).then(({ violations }) => violations)`),
  );
}

/** By how many pixels a page is wider than its window. */
export async function overflowOf(page: Page): Promise<number> {
  return z.number().parse(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
}

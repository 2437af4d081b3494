import fc from "fast-check";
import { sql } from "kysely";
import { it, expect } from "vitest";
import { openBook } from "../order-book.ts";
import { dumpTable, project, setBlocks } from "../given.ts";
import { opening, statsProjections, story, tellStory } from "../stats-story.ts";
import { familiesFromBooks } from "../stats-from-books.ts";
it("covers", async () => {
  const book = await openBook(statsProjections);
  const seen: Record<string, number> = {};
  let n = 0; const until = Date.now() + 100_000;
  const T = ["token","hour","contract","clock","family","name","total"];
  for (let seed = 5000; Date.now() < until; seed++, n++) {
    const steps = fc.sample(story, { numRuns: 1, seed })[0]!;
    await book.clear();
    const targets = await book.emptyTargets();
    await book.appendFacts(opening());
    for (const told of tellStory(steps)) {
      if (Math.random() < 0.8) await project(book.db, targets);
      if ("state" in told) await setBlocks(book.db, told.state === "drop" ? "block_retracted" : "block_readopted", [told.block]);
      else await book.appendFacts(told);
    }
    await project(book.db, targets);
    const { rows } = await sql<any>`select to_jsonb(f) as f from collection_stats.family f order by collection_id`.execute(book.db);
    expect(rows.map((r: any) => r.f), `seed ${seed}`).toEqual(await familiesFromBooks(book.db));
    for (const { f } of rows) for (const [k, v] of Object.entries(f)) if (v !== null && v !== 0 && v !== false) seen[k] = (seen[k] ?? 0) + 1;
    const live = await Promise.all(T.map((t) => dumpTable(book.db, "collection_stats." + t)));
    await project(book.db, await book.emptyTargets());
    expect(await Promise.all(T.map((t) => dumpTable(book.db, "collection_stats." + t))), `seed ${seed}`).toEqual(live);
  }
  console.log(n, JSON.stringify(seen));
  await book.drop();
}, 400000);

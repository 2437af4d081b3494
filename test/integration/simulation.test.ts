import { afterAll, describe, expect, it } from "vitest";
import { createDatabase } from "../postgres.ts";
import { simulate } from "../simulation/run.ts";

const watched = await createDatabase();
const shuffled = await createDatabase();

afterAll(async () => {
  await watched.drop();
  await shuffled.drop();
});

describe("a random history", () => {
  it.each(Array.from({ length: 6 }, (_, index) => index + 1))(
    "leaves one state however it arrives and whatever fails meanwhile (seed %i)",
    async (seed) => {
      const broken = await simulate(seed, { turns: 4, reorgDepth: 100 }, [
        watched.url,
        shuffled.url,
      ]);

      expect(broken.join("\n")).toBe("");
    },
  );
});

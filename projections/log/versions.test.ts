import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { allProjections } from "../all.ts";
import { schemaOf, versions } from "./versions.ts";

const projections = allProjections({ feeRecipient: zeroAddress });

test("a projection's version was looked at for the versions of those it reads: raise it where theirs are raised", () => {
  const read = projections.map(({ name, reads = [] }) => [
    name,
    Object.fromEntries(reads.map((one) => [one, projections.find((p) => p.name === one)?.version])),
  ]);
  expect(Object.fromEntries(read)).toEqual(
    Object.fromEntries(Object.entries(versions).map(([name, { reads = {} }]) => [name, reads])),
  );
});

test("a projection that reads another's new tables has new tables itself: an earlier release goes on with its own", () => {
  const isNew = (name: string) => schemaOf(name) !== name;
  const kept = projections.filter(({ name, reads = [] }) => reads.some(isNew) && !isNew(name));
  expect(kept.map(({ name }) => name)).toEqual([]);
});

import { isConcerned } from "../engine/apply-window.ts";
import type { Projection } from "../engine/projection.ts";
import { listingsProjection } from "../listings/project.ts";
import { metadataProjection } from "../metadata/project.ts";
import { ownershipProjection } from "../ownership/project.ts";
import { deriveTouched, openTables } from "./derive.ts";
import { deriveAllTraits } from "./derive-all.ts";
import { storeChanged } from "./store.ts";
import { traitTables } from "./table.ts";
import { findTouched } from "./touched.ts";

const read = [metadataProjection, ownershipProjection, listingsProjection];

/** Where a window moves none of their tables, traits and owners stay as they are. */
const telling = [metadataProjection, ownershipProjection];

/**
 * What tokens are by their attributes, what each trait's tokens are listed for, and how many there are of each.
 * Its rows rest on those of other projections: when they derive others, it is rebuilt too.
 */
export const traitsProjection: Projection = {
  name: "traits",
  version: 4,
  parameters: read.map(({ name, version }) => `${name} ${version}`).join(", "),
  reads: read.map(({ name }) => name),
  tables: traitTables,
  async apply(session, schema, window) {
    const { kinds } = window;
    await openTables(session);
    if ((await findTouched(session, schema, window)) === 0) return;
    const isRetold = kinds === undefined || telling.some((one) => isConcerned(one, kinds));
    if ((await deriveTouched(session, schema, { isRetold })) === 0) return;
    await storeChanged(session, schema, { isRetold });
  },
  deriveAll: [{ name: "traits", derive: deriveAllTraits }],
};

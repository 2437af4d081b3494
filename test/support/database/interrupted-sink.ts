import type { Readable } from "node:stream";
import type { Sink, SyncBatch } from "#jobs/analytics/sync.ts";

/** A copy whose process may end before any write: nothing is written or committed after it. */
export function interrupting(sink: Sink, dies: (step: string) => boolean): Sink {
  const before = (step: string) => {
    if (dies(step)) throw new Error(`the process ended before ${step}`);
  };
  return {
    ...sink,
    async begin() {
      const batch = await sink.begin();
      const interrupted: SyncBatch = {
        ...batch,
        async remove(...args) {
          before("remove");
          await batch.remove(...args);
        },
        async insert(table, rows: Readable) {
          try {
            before("insert");
          } catch (error) {
            rows.destroy();
            throw error;
          }
          await batch.insert(table, rows);
        },
        async setDigests(...args) {
          before("digests");
          await batch.setDigests(...args);
        },
        async commit(...args) {
          before("commit");
          await batch.commit(...args);
        },
      };
      return interrupted;
    },
  };
}

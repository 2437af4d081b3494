import type { z } from "zod";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { collectionUrls, presentCollectionUrls, type Site } from "./urls.ts";
import { collectionRef } from "./wire.ts";

/** Which collection an answer is about, where it is no row of the answer itself. */
export const LinkedCollection = collectionRef
  .extend({ urls: collectionUrls })
  .meta({ id: "LinkedCollection" });

export function presentLinkedCollection(
  { address, slug, name }: Pick<CollectionRef, "address" | "slug" | "name">,
  site: Site,
): z.output<typeof LinkedCollection> {
  return { address, slug, name, urls: presentCollectionUrls(site, slug ?? address) };
}

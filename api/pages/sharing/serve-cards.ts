import type { Request, Response } from "express";
import { type Media, sendDocument } from "#api/http/answer.ts";
import { addressWith } from "#api/http/reads/position.ts";
import { callerAddress, networkOf } from "#api/http/request.ts";
import { picturePath, pictureWidths } from "#api/pictures/address.ts";
import { drawPicture } from "#api/pictures/drawn-picture.ts";
import type { Pictures } from "#api/pictures/open-pictures.ts";
import { maxAges, namesContent, readUri, withAge } from "#api/pictures/serve-pictures.ts";
import { chainOf } from "../kit/chain-choice.ts";
import { pageInputOf } from "../kit/page-input.ts";
import { type Card, cardTexts, cardVersion } from "../kit/preview.ts";
import type { SiteContext } from "../kit/serve-page.ts";
import { pageFault } from "../kit/serve-website.ts";
import { type CardOf, openReader, RefusedRead } from "../kit/visit.ts";
import { drawCardTexts } from "./drawn-card.ts";

type Found = { readonly card: Card; readonly uri: string | null };

/** Serves the card of a page: what the page says now, whatever version is asked for. */
export function serveCard(
  site: SiteContext & { readonly pictures?: Pictures | undefined },
  cardOf: CardOf,
) {
  const { context, reads, logger, explain, pictures } = site;
  return async (request: Request, response: Response): Promise<void> => {
    const chainId = chainOf(request, context.chains);
    if (chainId === undefined) {
      refuse(response, 404);
      return;
    }
    const address = addressWith(request, ["chainId"]);
    const source = { request: address, reads, loadClass: "lists", atLeast: 0n } as const;
    try {
      const found = await reads.inSnapshot(source, async ({ db }) => {
        const { read } = openReader({ ...context, db });
        const card = await cardOf({ ...pageInputOf(request), chainId, read });
        return { card, uri: await readUri({ db }, card.image) };
      });
      const drawn = pictures && (await draw(pictures, request, found));
      if (drawn === undefined) {
        // Nobody draws now: its picture says less, and is one.
        response.set("Cache-Control", "no-store");
        response.redirect(picturePath(found.card.image, pictureWidths.page));
      } else await sendDocument(request, response, withAge(drawn.media, drawn.seconds));
    } catch (error) {
      const status =
        error instanceof RefusedRead
          ? error.status
          : pageFault(await explain(error), { request, response, logger }).status;
      refuse(response, status);
    }
  };
}

const refuse = (response: Response, status: number): void => {
  response.status(status).set("Cache-Control", "no-store").type("txt").end(`${status}\n`);
};

type Drawn = { readonly media: Media; readonly seconds: number };

async function draw(
  pictures: Pictures,
  request: Request,
  { card, uri }: Found,
): Promise<Drawn | undefined> {
  const { contract, tokenId, chainId } = card.image;
  const bounds = {
    contract: `${chainId} ${contract.toLowerCase()}`,
    caller: networkOf(callerAddress(request)),
  };
  const wanted = { ...bounds, width: pictureWidths.page, format: "webp" } as const;
  const own = uri === null ? "none" : await pictures.get({ ...wanted, uri });
  const svg = drawCardTexts(cardTexts(card));
  const cardWith = async (picture: Buffer) => await pictures.card({ ...bounds, svg, picture });
  const shown = typeof own === "string" ? own : await cardWith(own.bytes);
  if (typeof shown !== "string") {
    const isNamed = request.query.v === cardVersion(card) && uri !== null && namesContent(uri);
    return { media: shown, seconds: isNamed ? maxAges.named : maxAges.other };
  }
  const { bytes } = drawPicture(contract, tokenId);
  const media = await cardWith(bytes);
  if (typeof media === "string") return undefined;
  const isNamed = request.query.v === cardVersion(card) && uri === null;
  return { media, seconds: isNamed ? maxAges.named : maxAges.drawn };
}

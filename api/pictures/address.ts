import { createHash } from "node:crypto";

/** Pixels across at which pictures are served: of rows, of cards, of a token's own page. */
export const pictureWidths = { row: 96, card: 384, page: 960 } as const;

/** Pixels of a card that is drawn for who shares a page, and of the square in it that a picture has. */
export const cardSize = { width: 1_200, height: 630, pictureSide: 470, pictureInset: 80 } as const;

export type PictureWidth = (typeof pictureWidths)[keyof typeof pictureWidths];

/** A token, or without `tokenId` the collection of a contract, and what its metadata names as its image. */
export type Pictured = {
  readonly chainId: number;
  readonly contract: string;
  readonly tokenId?: string;
  /** As in answers; null: it has none. Absent: it is not known here. */
  readonly imageUrl?: string | null;
};

/** Where this site serves a picture. Another image of the same token has another address. */
export function picturePath(
  { chainId, contract, tokenId, imageUrl }: Pictured,
  width: PictureWidth,
): string {
  const subject = tokenId === undefined ? contract : `${contract}/${tokenId}`;
  const path = `/pictures/${chainId}/${subject}/${width}`;
  return typeof imageUrl === "string" ? `${path}?v=${pictureVersion(imageUrl)}` : path;
}

/** Tells an image from the others by its address. */
export const pictureVersion = (imageUrl: string): string =>
  createHash("sha256").update(imageUrl).digest("base64url").slice(0, 12);

/**
 * Letters, digits and signs that look like ASCII letters or digits, by what they look like: `confusables.txt` of Unicode
 * Security Mechanisms (UTS #39) 13.0.0, as packaged in unhomoglyph 1.0.6 (MIT). Taken as far as lower case: `I` and `i` are
 * one letter here, so that `l` stands for both. What NFKD or the removal of marks already makes equal is left out.
 *
 * © 1991-2020 Unicode, Inc. All rights reserved. Distributed under the Terms of Use in
 * https://www.unicode.org/copyright.html (Unicode License, SPDX `Unicode-DFS-2016`).
 */
export const lookAlikes: Readonly<Record<string, string>> = {
  "2": "ƧƨƻϨϩᒿᴤꙄꙅꛯꝚꝛ",
  "3": "ƷȜȝɜʒЗзҘҙӠӡჳᲳᴈⳌⳍꝪꝫꞫ𑢪𑣊𖼻𝈆",
  "4": "Ꮞꮞ𑢯𑣏",
  "5": "Ƽ𑢻𑣛",
  "6": "бᏮⳒⳓꮾ𑣕",
  "7": "𐓒𐓺𑣆𝈒",
  "8": "Ȣȣ৪੪𐌚𞣋",
  "9": "৭੧୨൭ⳊⳋꝮꝯ𑢬𑢶𑣌𑣖",
  a: "ɑΑαАаᎪᗅ⍶⍺Ɑꓮꭺ𐊠𖽀",
  b: "ƀƂƃƄƅɃɓΒβБВЬвьѢѣҌҍᏏᏴᏼᑲᑳᖯᗷᲀᲇꓐꞴꞵꮟ𐊂𐊡𐌁",
  c: "¢ȻȼСсҪҫᏟᲃᴄ₡Ⲥⲥꓚꮯ𐊢𐌂𐐕𐐽𐔜𑣩𑣲🅮🝌",
  d: "ÐðĐđƉƋƌɖɗԀԁᎠᏧᑯᗞᗪ₫ꓒꓓꭰꮷ",
  e: "ɆɇΕεЕеҼҽҾҿᎬ℮⋿ⴹꓰꬲꭼ𐊆𑢦𑢮𑣎",
  f: "ƑƒϜϝՔքᖴᵮẝ₽ꓝꞘꞙꬵ𐊇𐊥𐔥𑢢𑣂𝈓",
  g: "ƍǤǥɠɡԌԍՑցᏀᏳᏻᶃꓖꞬꮐ",
  h: "ĦħɦΗЋНнћҢңҺһӇӈӉӊՀհᎻᏂᏲᏺᕼⱧⱨⲎⲏꓧꚔꚕꞪꮋꮒ𐋏𐓍𐓵",
  j: "ɈɉʝͿϳЈјᎫᒍꓙꞲꭻ",
  k: "ƙΚκКкҚқҞҟᏦᛕ₭ⱩⱪⲔⲕꓗꝀꝁꮶ𐔘",
  l: "1Ii|ıŁłƖƗƚǀȽɨɩɪɫɭΙιІіӀӏוןا١ٳ۱ߊᎥᏞᒪᛁᵻᵼ∣⍳⍸⏽ⱢⲒⲓⳐⳑⵏꓡꓲꙆꙇꞮꭵꮮ𐊊𐌉𐌠𐐛𐑃𐔦𑢣𑢲𑣃𑣒𖼖𖼨𝈪𞣇",
  n: "ƝƞȠɲɳΝηՈոռበᑎᵰ∩⋂Ⲛⲛꓠꓵ𐆎𐔓𝉅",
  o: "0ØøƟɵΘΟθοσОоѲѳӨөՕօסه٥ھہە۵ۿ߀०০੦૦ଠ୦௦౦೦ഠ൦๐໐ဝ၀ჿዐᎾᏫᲂᲿᴏᴑ⊖⊝⍬Ⲟⲟⴱⵁⵔ〇ꓳꝊꝋꬽꬾꭴꮎꮻ𐊒𐊫𐐄𐐬𐓂𐓪𐔖𑓐𑢵𑣈𑣗𑣠𝈚🜔",
  p: "ƥΡρРрᏢᑭᵽ⍴ⱣⲢⲣꓑꮲ𐊕",
  q: "ʠԚԛԳԶգզⵕ",
  r: "ƦɌɍɼɽʀгғᎡᏒᖇᴦᵲⱤⲅꓣꭇꭈꭱꮁꮢ𐒴𐓜𖼵𝈖",
  s: "ƽʂЅѕՏտᏕᏚᵴꓢꜱꟅꮥꮪ𐊖𐐠𐑈𑢡𑣁𖼺",
  t: "ŦŧƭƮȾʈΤτТтҬҭᎢᲄᲅᵵ₮⊤⍡⟙ⱦⲦⲧꓔꭲ𐊗𐊱𐌕𑢼𖼊🝨",
  u: "ƲɄʉʋυՍսሀᏌᑌᴜᵾ∪⋃ꓴꞟꭎꭒꮜ𐓎𐓶𑢸𑣘𖽂",
  v: "νѴѵט٧۷Ꮩᐯᴠ∨⋁ⴸꓦꛟꮩ𐆗𐔝𑜆𑢠𑣀𖼈𝈍🜈",
  w: "ƜɯѠѡԜԝԱաᎳᏇᏔᗯᴡ₩ꓪꝠꝡꮃꮗꮤ𑓅𑜊𑜎𑜏𑣦𑣯𝈢",
  x: "×ΧχХхҲҳᕁᕽ᙭ᚷ╳⤫⤬⨯⨰ⲬⲭⵝꓫꞳꭓꭕ𐆖𐊐𐊴𐌗𐌢𐔧𑣬",
  y: "¥ƔƴɎɏɣʏΓΥγГУуҒҮүҰұყᎩᎱᎽᒥᲧᶌỾỿⲄⲨⲩꓬꭚꭹꮍ𐊲𑢤𑣜𖼇𖽃",
  z: "ƵƶȤȥʐΖζᏃᴢᵶꓜꮓ𐋵𑢩𑣄𑣉𑣥",
  aa: "Ꜳꜳ",
  ae: "ÆæӔӕ",
  ao: "Ꜵꜵ",
  ar: "🜇",
  au: "Ꜷꜷ",
  av: "ꜸꜹꜺꜻ",
  ay: "Ꜽꜽ",
  bl: "Ыы",
  dz: "ʣ",
  ll: "ǁװ∥𐆙",
  lo: "Юю⏨",
  ls: "ʪ",
  lt: "₶",
  lz: "ʫ",
  oe: "Œœ",
  oo: "∞ꚘꚙꝎꝏ",
  qe: "🜀",
  rn: "MmɱΜμϺϻМмӍӎᎷᗰᛖᵯ₥ⱮⲘⲙꓟꮇ𐊰𐌑𑜀𑣣",
  t3: "Ꜩꜩ",
  tf: "ꝷ",
  ts: "ʦ",
  ue: "ᵫ",
  uo: "ꭣ",
  vb: "🝬",
  lls: "𐆘",
  rnb: "🝫",
  sss: "🝜",
};

/** Of a long name the beginning is compared. */
const comparedLength = 60;

/** What is not shown, and marks that any letter may carry. Vowel signs of a script are letters of it, and stay. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Script=Inherited}\p{Me}]/gu;
const neitherLetterNorDigit = /[^\p{L}\p{N}\p{M}]/gu;

const looks = new Map(
  Object.entries(lookAlikes).flatMap(([look, letters]) =>
    [...letters].map((letter) => [letter, look] as const),
  ),
);

const replaced = (text: string): string =>
  Array.from(text, (letter) => looks.get(letter) ?? letter).join("");

/**
 * What a name looks like: the same for names that a reader takes for one another. The skeleton of UTS #39, but for case,
 * marks, spacing, punctuation and signs, which make no other name either. Null without a letter or digit.
 */
export function nameLook(name: string): string | null {
  const plain = name.normalize("NFKD").replaceAll(unseen, "");
  const seen = replaced(replaced(plain).toLowerCase().normalize("NFKD").replaceAll(unseen, ""));
  const look = [...seen.replaceAll(neitherLetterNorDigit, "")].slice(0, comparedLength).join("");
  return look === "" ? null : look;
}

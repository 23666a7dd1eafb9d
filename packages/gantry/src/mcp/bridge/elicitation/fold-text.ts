/**
 * A text as the eye reads it: without invisible characters and accents, in small letters, letters of other scripts that look like Latin
 * ones as these. Words stay apart. For comparing only.
 */
export const foldText = (text: string): string =>
  text
    .replaceAll(invisible, '')
    .normalize('NFKD')
    .replaceAll('ß', 'ss')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll(lookAlike, (letter) => latin.get(letter) ?? letter);

/** A name as {@link foldText} has it, without anything between its words. */
export const foldName = (name: string): string => foldText(name).replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');

/** Characters that nobody sees. */
export const invisible: RegExp = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Cs}]/gu;

// Small letters, since capitals are folded before; those that no decomposition gives. Each pair is a letter and what it looks like.
const latin: ReadonlyMap<string, string> = new Map(
  [
    'аa вb еe іi кk мm нh оo рp сc тt уy хx ѕs јj ԛq ԝw һh ԁd ӏl ѵv',
    'αa βb γy εe ηn ιi κk νv οo ρp τt υu χx ωw ϲc',
    'łl øo đd ıi ħh ŧt ɑa ɡg ᴀa ʙb ᴄc ᴅd ᴇe ɪi ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz',
    // Written either way in Arabic.
    'ةه ىي',
  ].flatMap((line) => line.split(' ').map((pair): [string, string] => [pair.slice(0, -1), pair.slice(-1)])),
);
const lookAlike = new RegExp(`[${[...latin.keys()].join('')}]`, 'gu');

/** Words that say nothing about what is wanted. */
export const stopWords: ReadonlySet<string> = new Set(
  `a an the of to in on at by for from with about into over under as is are was were be been being am do does did doing
  done have has had having i me my mine we us our ours you your yours he him his she her it its they them their this that
  these those there here what which who whom whose when where why how and or but not no nor so if then than too very just
  also only can could will would shall should may might must please want need like let lets s t d ll re ve m don some any
  all each other such more most own same out up down off again both few many much give tell show help hi hello hey thanks
  thank de la el los las un una y en que por para con le les des du et est pour dans sur der die das und ist ein eine fur
  mit von zu o os as da do em um uma il lo gli di e per`.split(/\s+/),
);

/** Words that nearly every request or tool text has: they count, but less. */
export const commonWords: ReadonlySet<string> = new Set(
  `find get search look looking fetch retrieve provide list use using used user make create add know try tool plugin app
  application api service function website system platform information info detail data specific various including
  include related available best good great popular top new latest recent recommend suggest option way thing lot kind
  type interested interest able possible based one two three first last time people person work request comprehensive
  wide range assist assistance share view check see understand return given value number name item object id parameter
  default optional example format result content different certain particular specifically regarding among within
  overall`.split(/\s+/),
);

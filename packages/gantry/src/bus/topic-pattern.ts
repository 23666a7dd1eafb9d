/** A topic pattern ready to be matched. */
export interface TopicPattern {
  /** False when the pattern has wildcards; a pattern without them matches only the equal topic. */
  readonly isExact: boolean;
  /** True when the topic fits. Case counts. */
  readonly matches: (topic: string) => boolean;
}

/**
 * Prepares a topic pattern: segments parted by dots, where `*` stands for exactly one segment and `#` for any number of
 * them, also none, anywhere. Both count only as a whole segment.
 */
export const parseTopicPattern = (pattern: string): TopicPattern => {
  const wanted = pattern.split('.');
  if (!wanted.includes('*') && !wanted.includes('#')) return { isExact: true, matches: (topic) => topic === pattern };
  return { isExact: false, matches: (topic) => matchSegments(wanted, topic.split('.')) };
};

// Only the last `#` passed ever needs to take more segments: whatever an earlier one could take, the later can as well.
const matchSegments = (wanted: readonly string[], given: readonly string[]): boolean => {
  let at = 0;
  let resumeWanted = -1;
  let resumeGiven = 0;
  let index = 0;
  while (index < given.length) {
    if (wanted[at] === '#') {
      at += 1;
      resumeWanted = at;
      resumeGiven = index;
    } else if (at < wanted.length && (wanted[at] === '*' || wanted[at] === given[index])) {
      at += 1;
      index += 1;
    } else if (resumeWanted >= 0) {
      resumeGiven += 1;
      index = resumeGiven;
      at = resumeWanted;
    } else return false;
  }
  while (wanted[at] === '#') at += 1;
  return at === wanted.length;
};

/** What ids of sessions look like: up to 128 letters, digits and `. _ - @ : +`. */
export const sessionIdPattern: RegExp = /^[\w.@:+-]{1,128}$/;

/** The same in words, for whoever has to correct one. */
export const sessionIdRule = 'up to 128 letters, digits and . _ - @ : +';

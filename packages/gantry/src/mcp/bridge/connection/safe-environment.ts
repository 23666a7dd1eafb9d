const handedOn =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'COMSPEC',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'NUMBER_OF_PROCESSORS',
        'OS',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'PROGRAMDATA',
        'PROGRAMFILES',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'TMP',
        'USERNAME',
        'USERPROFILE',
        'WINDIR',
      ]
    : ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];

/**
 * The environment of a server's program: the few variables of the host that programs need, and the entry's own on top. Nothing else of
 * the host is handed on, since its environment may hold secrets.
 */
export const safeEnvironment = (
  host: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>> | undefined,
): Record<string, string> => {
  const environment: Record<string, string> = {};
  for (const name of handedOn) {
    const value = host[name];
    // A value that begins so is an exported shell function.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  return { ...environment, ...own };
};

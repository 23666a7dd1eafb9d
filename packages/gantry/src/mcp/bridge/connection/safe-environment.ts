const basics =
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
// Paths of certificates, which are no secret. Behind a certificate authority of one's own, `npx` and the like reach nothing without.
const certificates = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_DIR', 'SSL_CERT_FILE'];

/**
 * The environment of a server's program: the few variables of the host that programs need, those that name certificates to trust, and
 * the entry's own on top. Nothing else of the host is handed on, since its environment may hold secrets.
 */
export const safeEnvironment = (
  host: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>> | undefined,
): Record<string, string> => {
  const environment: Record<string, string> = {};
  for (const name of [...basics, ...certificates]) {
    const value = host[name];
    // A value that begins so is an exported shell function.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  return { ...environment, ...own };
};

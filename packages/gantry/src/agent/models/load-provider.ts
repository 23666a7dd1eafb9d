import { GantryError } from '../../kernel/errors.ts';

/**
 * Loads the package of a provider, or the code that needs it.
 * @throws {GantryError} `package_missing` with the command that installs it.
 */
export const loadProvider = async <Module>(name: string, load: () => Promise<Module>): Promise<Module> => {
  try {
    return await load();
  } catch (error) {
    const install = name === 'ai' ? 'npm install ai' : `npm install ai ${name}`;
    throw new GantryError('package_missing', `Models need the package ${name}; run "${install}".`, {
      details: { package: name, install },
      cause: error,
    });
  }
};

import type { RegisterServer, ServerRegistered, ServerUnregistered } from '../../wire/manage-messages.ts';
import type { ServerStatus } from '../../wire/server-state.ts';
import type { McpConfigFile } from '../config/config-file.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { AddressGuard } from '../connection/address-guard.ts';
import type { ManagedServer } from '../server/managed-server.ts';
import { registration, unregistration } from './agent-edits.ts';
import { addition, removal, switching } from './operator-edits.ts';

/** What an operator may do to the file of servers. Each takes effect before it resolves and leaves other servers alone. */
export interface OperatorEdits {
  /**
   * Writes a new entry and connects it. Resolves when the first attempt to connect has ended, well or not.
   * @throws {GantryError} `invalid_arguments`, `config_invalid`
   */
  add(name: string, entry: ServerEntry): Promise<ServerStatus>;
  /**
   * Removes an entry, whoever it is of.
   * @throws {GantryError} `server_unknown`, `config_invalid`
   */
  remove(name: string): Promise<void>;
  /**
   * Switches an entry on or off.
   * @throws {GantryError} `server_unknown`, `config_invalid`
   */
  setEnabled(name: string, isEnabled: boolean): Promise<ServerStatus>;
}

/** What a model may do to it. */
export interface AgentEdits {
  /** @throws {GantryError} `invalid_arguments`, `address_refused`, `config_invalid` */
  register(request: RegisterServer): Promise<ServerRegistered>;
  /** @throws {GantryError} `invalid_arguments`, `config_invalid` */
  unregister(serverName: string): Promise<ServerUnregistered>;
}

/** Makes the edits over a bridge's file and its servers. */
export const createServerEdits = (options: {
  readonly config: Pick<McpConfigFile, 'edit'>;
  readonly reload: () => Promise<void>;
  readonly named: (name: string) => ManagedServer;
  readonly guard: Pick<AddressGuard, 'check'>;
}): { readonly operator: OperatorEdits; readonly agent: AgentEdits } => {
  const { config, reload, named, guard } = options;

  const edit = async (decide: Parameters<McpConfigFile['edit']>[0]): Promise<void> => {
    await config.edit(decide);
    await reload();
  };

  const settledStatus = async (name: string): Promise<ServerStatus> => {
    const server = named(name);
    await server.settled;
    return server.status();
  };

  return {
    operator: {
      add: async (name, entry) => {
        await edit((file) => addition(file, name, entry));
        return await settledStatus(name);
      },
      remove: (name) => edit((file) => removal(file, name)),
      setEnabled: async (name, isEnabled) => {
        await edit((file) => switching(file, name, isEnabled));
        return await settledStatus(name);
      },
    },
    agent: {
      register: async (request) => {
        await guard.check(request.url);
        await edit((file) => registration(file, request));
        const { name, state, tools, lastError } = await settledStatus(request.name);
        const connected = state === 'connected';
        const told = connected
          ? `It is connected and offers ${tools} tool${tools === 1 ? '' : 's'}.`
          : `Connection failed: ${lastError ?? 'it is not connected yet.'} It is tried again.`;
        return { serverName: name, connected, toolCount: tools, message: `Server "${name}" is registered. ${told}` };
      },
      unregister: async (serverName) => {
        await edit((file) => unregistration(file, serverName));
        return { serverName, message: `Server "${serverName}" is unregistered.` };
      },
    },
  };
};

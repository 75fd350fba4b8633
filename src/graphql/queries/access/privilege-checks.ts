/** Privileges of the caller, with policies and groups read once for each request. */
import type { AuthContext } from "../../../auth/policies/authority.ts";
import { meets } from "../../../auth/policies/policy.ts";
import { findResource } from "../../../auth/policies/principals.ts";
import { alternativesText, type PrivilegeAlternatives } from "../../../auth/policies/privileges.ts";
import { CatalogError } from "../../../core/errors.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import type { Viewer } from "../../context.ts";

const contexts = new WeakMap<Viewer, Promise<AuthContext | undefined>>();

function contextOf(viewer: Viewer): Promise<AuthContext | undefined> {
  let context = contexts.get(viewer);
  if (context === undefined) {
    const { actor, authority } = viewer;
    context = actor === undefined ? Promise.resolve(undefined) : authority.authContext(actor);
    contexts.set(viewer, context);
  }
  return context;
}

/** Returns a check for privileges on one entity; without a urn, on the platform. */
export async function privilegesOn(
  urn: string | undefined,
  viewer: Viewer,
): Promise<(alternatives: PrivilegeAlternatives) => boolean> {
  const { actor, namespace, entities } = viewer;
  if (actor === `urn:${namespace}:corpuser:__datahub_system`) return () => true;
  const context = await contextOf(viewer);
  if (context === undefined) return () => false;
  const resource =
    urn === undefined ? undefined : await findResource(entities, urn, entityTypeOf(urn));
  return (alternatives) => meets(context.policies, context.principal, alternatives, resource);
}

/** True when the caller has the privileges on the entity; without a urn, on the platform. */
export const may = async (
  viewer: Viewer,
  alternatives: PrivilegeAlternatives,
  urn?: string,
): Promise<boolean> => (await privilegesOn(urn, viewer))(alternatives);

/** Throws `forbidden` unless the caller has the privileges on the platform. */
export async function rejectWithout(
  viewer: Viewer,
  alternatives: PrivilegeAlternatives,
): Promise<void> {
  if (await may(viewer, alternatives)) return;
  throw denied(alternatives);
}

/** Throws `forbidden` when the caller may not read the entity. */
export async function rejectUnreadable(
  viewer: Viewer,
  alternatives: PrivilegeAlternatives,
  urn: string,
): Promise<void> {
  if (!(await mayRead(viewer, alternatives, urn))) throw denied(alternatives);
}

const denied = (alternatives: PrivilegeAlternatives): CatalogError =>
  new CatalogError("forbidden", "Unauthorized to perform this action", {
    hint: `It needs the privilege ${alternativesText(alternatives)}. Please contact your DataHub administrator.`,
  });

/**
 * True when the caller may read a part of the entity that needs more than its page. Callers without a
 * name exist only where the service requires no tokens: they read everything, as over REST.
 */
export const mayRead = async (
  viewer: Viewer,
  alternatives: PrivilegeAlternatives,
  urn: string,
): Promise<boolean> => viewer.actor === undefined || may(viewer, alternatives, urn);

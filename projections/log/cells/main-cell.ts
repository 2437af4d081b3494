/** The name of the database that holds every chain without one of its own; others have the id of their chain. */
export const mainCell = "main";

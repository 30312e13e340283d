/* SPDX-License-Identifier: MIT */

#pragma once

#include "sb-canvas.h"
#include "sb-edit-panel.h"
#include "sb-haar-export.h"
#include "sb-start-page.h"
#include "sb-status-line.h"
#include "sb-subband-view.h"
#include "sb-window.h"

G_BEGIN_DECLS

/* Where the subbands stand: after the photo, before it, or in its place. */
typedef enum
{
  SB_SUBBANDS_BESIDE,
  SB_SUBBANDS_BEFORE,
  SB_SUBBANDS_ALONE,
} SbSubbandsLayout;

/* What of the subbands is the same in the next run; see sb-window-subbands.c. */
#define SB_N_REMEMBERED 9

/* Shared by the files of the window. */
struct _SbWindow
{
  AdwApplicationWindow parent_instance;

  SbDocument *document;
  SbDevice device; /* that was asked for */
  GSettings *settings;
  SbSubbandModel *model;
  SbSubbandsLayout subbands_layout;
  double divider;    /* the photo's part of the room of both canvases */
  int divided;       /* that room, in pixels, when it was last divided; 0: not yet */
  guint divider_id;  /* the divider has moved, or the room has changed */
  guint remember_id; /* what is seen of the subbands is about to be written down */
  GVariant *remembered[SB_N_REMEMBERED];
  GCancellable *load; /* of the load on its way, or NULL */
  guint loading_id;   /* the spinner comes late */
  guint leave_id;     /* the button that leaves fullscreen goes */
  guint fold_id;
  guint restore_id, restore_frames; /* the size from before fullscreen comes back */
  AdwToast *next_toast;             /* waits until the newest has slid in, or NULL */
  guint settle_id;
  gint64 settle_frame, settled_us;
  guint toast_id;
  AdwToast *toast;        /* the newest, or NULL */
  GString *warnings;      /* of the banner */
  gboolean animate;       /* once there is a picture */
  gboolean show_subbands; /* the same */
  gboolean comparing;     /* by a key or a button held down */
  gboolean opening;       /* a dialog of files is about to come */
  gboolean choosing;      /* where to export to */
  GtkWidget *question;    /* about unsaved changes, or NULL */
  gboolean close_waits;   /* for the export on its way */
  gboolean closing;       /* the answer was to close */
  gboolean narrow;        /* the panel covers the picture */
  gboolean panel_wanted;  /* where there is room */

  AdwToastOverlay *toasts;
  AdwHeaderBar *header;
  AdwWindowTitle *title;
  AdwSplitButton *open;
  GtkWidget *history;
  GtkWidget *undo, *redo, *bottom_undo, *bottom_redo;
  GtkWidget *compare, *bottom_compare;
  GtkWidget *export;
  GtkWidget *panel_button;
  GtkMenuButton *menu;
  GtkInfoBar *banner;
  GtkLabel *banner_label;
  GtkWidget *choose_page;
  GtkOverlay *stage;
  GtkStack *pages;
  SbStartPage *start;
  AdwFlap *flap;
  GtkPaned *canvases;
  SbCanvas *canvas;
  SbSubbandView *subbands;
  GtkWidget *subbands_button;
  SbEditPanel *panel;
  GtkProgressBar *progress;
  GtkWidget *loading;
  GtkRevealer *leave;
  GtkRevealer *drop;
  SbStatusLine *status;
  GtkActionBar *bottom;
};

/* sb-window-say.c */
/* title is plain text, and is shown in whole. */
void sb_window_toast (SbWindow *self, const char *title);
/* Takes the toast, and shows it in place of the one before. */
void sb_window_add_toast (SbWindow *self, AdwToast *toast);
/* One more sentence in the banner, once. */
void sb_window_warn (SbWindow *self, const char *sentence);
void sb_window_clear_banner (SbWindow *self);
/* The document's error may have gone, and its banner goes with it. */
void sb_window_follow_error (SbWindow *self);
/* Tells once why there is no GPU, and again only when the reason is another one. */
void sb_window_follow_device (SbWindow *self);

/* sb-window-compare.c */
/* The keys and buttons that show the original while they are held. */
void sb_window_connect_compare (SbWindow *self);
void sb_window_set_comparing (SbWindow *self, gboolean comparing);

/* sb-window.c */
/* The header's and the window's title. */
void sb_window_follow_titles (SbWindow *self);

/* sb-window-layout.c */
void sb_window_connect_layout (SbWindow *self);
/* Before the window, which is to be so wide, comes to the screen. */
void sb_window_start_layout (SbWindow *self, int width);
void sb_window_close_layout (SbWindow *self);
/* Shows what there is room and use for. */
void sb_window_follow_layout (SbWindow *self);
void sb_window_set_panel (SbWindow *self, gboolean shown);

/* sb-window-actions.c */
void sb_window_add_actions (SbWindow *self);
/* The one function that sets the enabled and the state of every action. */
void sb_window_update_actions (SbWindow *self);

/* sb-window-subbands.c */
void sb_window_connect_subbands (SbWindow *self);
void sb_window_close_subbands (SbWindow *self);
/* The layout has changed. */
void sb_window_follow_subbands (SbWindow *self);
void sb_window_set_subbands (SbWindow *self, gboolean shown);
/* "beside", "before", "alone"; FALSE: none of these. */
gboolean sb_window_set_subbands_layout (SbWindow *self, const char *name);
const char *sb_window_get_subbands_layout (SbWindow *self);
/* That the keys and actions for zoom and pan mean. */
SbCanvas *sb_window_get_active_canvas (SbWindow *self);

/* sb-window-bands.c */
typedef enum
{
  SB_BANDS_EXPORT_MOSAIC, /* as the viewer shows it, a pixel a point */
  SB_BANDS_EXPORT_ONE,    /* the selected band */
  SB_BANDS_EXPORT_ALL,    /* into a folder, named as the command line names them */
} SbBandsExport;
/* The name of the picture without its suffix. */
char *sb_window_get_stem (SbWindow *self) G_GNUC_WARN_UNUSED_RESULT;
/* What the name of a band's file says: .png, or .npy; FALSE: nothing, and *format is NumPy's. */
gboolean sb_window_bands_format (GFile *file, SbHaarFormat *format);
void sb_window_write_bands (SbWindow *self, SbBandsExport what, GFile *file, SbHaarFormat format,
                            gboolean overwrite);
/* Without a question, never over a file; one band as its name says: .png or else NumPy. */
void sb_window_export_bands_to (SbWindow *self, SbBandsExport what, GFile *file);

/* sb-window-bands-ask.c: asks where to. */
void sb_window_export_bands (SbWindow *self, SbBandsExport what);

/* sb-window-files.c */
void sb_window_open (SbWindow *self);
void sb_window_paste (SbWindow *self);
void sb_window_copy (SbWindow *self);
void sb_window_accept_drops (SbWindow *self);

/* sb-window-export.c */
/* Asks where to, then exports. */
void sb_window_export (SbWindow *self, gboolean then_close);
/* Exports without a question, never over a file. */
void sb_window_export_to (SbWindow *self, GFile *file);
/* A toast; corrected: the name was not one of a PNG file. */
void sb_window_tell_exported (SbWindow *self, GFile *file, gboolean corrected);
/* Asks whether changes may be lost; closes the window where they may, or after an export. */
void sb_window_ask_to_close (SbWindow *self);

G_END_DECLS

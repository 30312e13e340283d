/* SPDX-License-Identifier: MIT */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* An edit is a value: a kind, its parameters, an area. Copy it by assignment. One table, below,
 * says everything about every kind; sliders, command line, labels and tests are driven by it, and
 * no other file knows a range or a default. */

typedef enum
{
  SB_EDIT_BLUR,
  SB_EDIT_BANDS,
  SB_N_EDIT_KINDS,
} SbEditKind;

/* Positions in SbEdit.values of the parameters of a blur. */
enum
{
  SB_BLUR_RADIUS,    /* pixels, a whole number of sixteenths, 0 .. 2000 */
  SB_BLUR_PASSES,    /* 1 .. 10 */
  SB_BLUR_LINEAR,    /* 0 or 1 */
  SB_BLUR_EDGE,      /* SbEdge */
  SB_BLUR_DIRECTION, /* SbDirection */
  SB_N_BLUR_PARAMETERS,
};

typedef enum
{
  SB_EDGE_CLAMP,
  SB_EDGE_MIRROR,
} SbEdge;

typedef enum
{
  SB_DIRECTION_BOTH,
  SB_DIRECTION_HORIZONTAL,
  SB_DIRECTION_VERTICAL,
} SbDirection;

/* Positions of the parameters of an edit of Haar bands (sb-haar.h). A detail of level L and
 * orientation O is put to the threshold, then multiplied by gain<L> * gain<O><L>, which is computed
 * in double and rounded once to float: sb_bands_gain() in sb-bands.h. Levels beyond the deepest of
 * the picture change nothing, the coarsest means that gainA multiplies included. */
#define SB_BANDS_MAX_LEVELS 20
enum
{
  SB_BANDS_LEVELS,    /* 1 .. 20; 0 where a preview has left none: then gainA alone acts */
  SB_BANDS_THRESHOLD, /* 0 .. 1000, to four decimals: 8-bit units of the orthonormal scale */
  SB_BANDS_RULE,      /* SbBandsRule */
  SB_BANDS_LUMA,      /* 0: R, G, B one by one; 1: the luma only */
  SB_BANDS_GAIN_A,    /* gains are 0 .. 4, to four decimals */
  SB_BANDS_GAIN,      /* of level L: at SB_BANDS_GAIN + L - 1, and so on */
  SB_BANDS_GAIN_H = SB_BANDS_GAIN + SB_BANDS_MAX_LEVELS,
  SB_BANDS_GAIN_V = SB_BANDS_GAIN_H + SB_BANDS_MAX_LEVELS,
  SB_BANDS_GAIN_D = SB_BANDS_GAIN_V + SB_BANDS_MAX_LEVELS,
  SB_N_BANDS_PARAMETERS = SB_BANDS_GAIN_D + SB_BANDS_MAX_LEVELS,
};

typedef enum
{
  SB_BANDS_SOFT,
  SB_BANDS_HARD,
} SbBandsRule;

#define SB_EDIT_MAX_PARAMETERS 88

typedef enum
{
  SB_AREA_WHOLE,
  SB_AREA_RECT,
  SB_AREA_ELLIPSE,
} SbAreaShape;

#define SB_AREA_MAX_SIDE    1000000
#define SB_AREA_MAX_FEATHER 500

/* Where an edit acts, in whole pixels of its input; the box may lie partly outside the picture. */
typedef struct
{
  SbAreaShape shape;
  int x, y;          /* of a rect or an ellipse's box, -SB_AREA_MAX_SIDE .. SB_AREA_MAX_SIDE */
  int width, height; /* 1 .. SB_AREA_MAX_SIDE */
  guint feather;     /* radius of the box that softens the mask, 0 .. SB_AREA_MAX_FEATHER px */
  gboolean invert;
} SbArea;

typedef struct
{
  SbEditKind kind;
  double values[SB_EDIT_MAX_PARAMETERS];
  SbArea area;
} SbEdit;

/* --- The table ------------------------------------------------------------------------------- */

typedef enum
{
  SB_PARAMETER_NUMBER, /* a multiple of `quantum`, taken to the nearest */
  SB_PARAMETER_SWITCH, /* 0 or 1 */
  SB_PARAMETER_CHOICE, /* an index into choices */
} SbParameterType;

/* How a parameter's value follows when the edit runs on a picture reduced by 2^level. */
typedef enum
{
  SB_SCALE_NONE,
  /* The box keeps its true width: r' = max (0, ((2r + 1) / 2^level - 1) / 2), to the quantum. */
  SB_SCALE_BOX_RADIUS,
  /* Level l of the reduced picture is level l + level of the full one: so many less are left, */
  SB_SCALE_LEVELS,
  /* each takes the value of the one it is (of what lies past the last level: the initial one), */
  SB_SCALE_OF_LEVEL,
  /* and in the orthonormal scale of the reduced picture a value is divided by 2^level; not taken
   * to the quantum. */
  SB_SCALE_ORTHONORMAL,
} SbScaleRule;

typedef struct
{
  const char *key;   /* in edit texts: "radius" */
  const char *label; /* untranslated, marked with N_() */
  SbParameterType type;
  double minimum, maximum, initial;
  double quantum;   /* values are multiples of it; whole, or one over a whole number */
  double step;      /* of keys and spin buttons; ten times it with Shift */
  guint digits;     /* decimals shown */
  const char *unit; /* untranslated, "px", or NULL */
  /* Where on a slider of length 1 the value `curve_value` sits; 0 for a straight slider. The radius
   * gives its first third to 0 .. 20 px. See sb_parameter_to_slider(). */
  double curve_position, curve_value;
  SbScaleRule scale;
  guint level; /* of SB_SCALE_OF_LEVEL; those of one kind stand in order of their levels */
  const char *const *choices;       /* keys of a choice: "clamp", "mirror" */
  const char *const *choice_labels; /* untranslated */
} SbParameter;

typedef struct
{
  const char *key;   /* "blur" */
  const char *label; /* untranslated */
  guint n_parameters;
  const SbParameter *parameters;
} SbEditClass;

const SbEditClass *sb_edit_class (SbEditKind kind);

/* A parameter's place on a slider, 0 .. 1, and back to an allowed value. Both are increasing, exact
 * at both ends and at curve_position, smooth between but for the quantum, and inverse to each other
 * up to it. */
double sb_parameter_to_slider (const SbParameter *parameter, double value);
double sb_parameter_from_slider (const SbParameter *parameter, double position);
/* The nearest allowed value. */
double sb_parameter_clamp (const SbParameter *parameter, double value);

/* --- Values ---------------------------------------------------------------------------------- */

/* The kind's defaults, whole picture. */
void sb_edit_init (SbEdit *edit, SbEditKind kind);
gboolean sb_edit_equal (const SbEdit *a, const SbEdit *b);
/* Whether the edit returns every byte of a width x height picture as it was, whatever is in it. */
gboolean sb_edit_is_identity (const SbEdit *edit);
/* What is wrong with the edit on a picture of this size (an area that lies wholly outside it):
 * SB_ERROR_INVALID. */
gboolean sb_edit_check (const SbEdit *edit, guint width, guint height, GError **error);
/* The edit as it runs on the picture reduced by 2^level: parameters by their scale rules, area and
 * feather divided (outwards, at least a pixel). Level 0 gives the edit itself. */
void sb_edit_scale (const SbEdit *edit, guint level, SbEdit *scaled);
/* "Blur 14 px, 3 passes", translated. */
char *sb_edit_label (const SbEdit *edit) G_GNUC_WARN_UNUSED_RESULT;
/* The standard deviation in pixels of the Gaussian a blur amounts to. With f the fraction of the
 * radius and R its whole part: sigma^2 = n [R (R+1) (2R+1) / 3 + 2 f (R+1)^2] / (2R + 1 + 2f). */
double sb_edit_blur_sigma (const SbEdit *edit);

/* --- Texts ----------------------------------------------------------------------------------- */

/* "blur:radius=14,passes=3": every key optional, in any order, once; "blur" alone is the default
 * edit. Numbers use a point in every locale. Errors are SB_ERROR_INVALID and name the token, the
 * allowed range or names and, for an unknown key or kind, the list of keys. */
gboolean sb_edit_parse (const char *text, SbEdit *edit, GError **error);
/* Only what differs from the defaults, in table order: "blur:radius=2.5"; parses to the same edit.
 */
char *sb_edit_print (const SbEdit *edit) G_GNUC_WARN_UNUSED_RESULT;

/* --- Lists ----------------------------------------------------------------------------------- */

/* An immutable, reference-counted sequence of edits, first applied first. Any thread. */
typedef struct
{
  guint n_edits;
  const SbEdit *edits;
} SbEditList;

SbEditList *sb_edit_list_new (const SbEdit *edits, guint n_edits) G_GNUC_WARN_UNUSED_RESULT;
SbEditList *sb_edit_list_ref (const SbEditList *list) G_GNUC_WARN_UNUSED_RESULT;
void sb_edit_list_unref (const SbEditList *list); /* NULL: nothing happens */
/* NULL counts as the empty list. */
gboolean sb_edit_list_equal (const SbEditList *a, const SbEditList *b);
/* How many edits at the start of both are equal. */
guint sb_edit_list_common (const SbEditList *a, const SbEditList *b);
/* The edits' texts with a space between, "" for none. */
char *sb_edit_list_print (const SbEditList *list) G_GNUC_WARN_UNUSED_RESULT;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbEditList, sb_edit_list_unref)

G_END_DECLS
